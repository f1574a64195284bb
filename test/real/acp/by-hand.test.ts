// @module-tag full
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { presets } from '../../../src/agent/acp/presets.ts';
import { daemonMarker } from '../../../src/process/containment/process-table.ts';
import { describeWithAcp } from '../acp-programs.ts';
import { makeTerminal, openByHand } from '../person-at-terminal.ts';
import { useAcpScenes } from './acp-scene.ts';

await describeWithAcp(
  'a person in the conversation of a real agent',
  (program) => {
    const makeScene = useAcpScenes(program);

    it('opens it with the printed command, keeps others out while it is open, and leaves nothing behind', async ({
      skip,
    }) => {
      skip(!existsSync(makeTerminal), 'there is no script(1) here to make a terminal with');
      const scene = await makeScene({ scenario: { rules: [{ when: /by hand/, steps: [{ message: 'understood' }] }] } });
      const first = await scene.open();
      await first.complete('The word is kite.');
      await first.session.stop();
      const threadId = first.session.threadId ?? '';
      const line = presets['codex-acp'].resume({ workspace: scene.workspace, threadId, home: null, gitDir: null });
      const env = { ...scene.env, [daemonMarker]: scene.daemonId };
      const person = openByHand({ folder: scene.folder, env }, program.byHand, `${line} 'I do it by hand.'`);
      await person.sees('Open restricted');
      await person.presses('\r', 'understood');
      await expect(scene.open({ threadId })).rejects.toMatchObject({ code: 'agent_thread_in_use' });
      person.types('/quit');
      await person.sees('exit Codex');
      person.types('\r');
      expect(await person.ended).toBe(0);

      const second = await scene.open({ threadId });
      expect(second.session).toMatchObject({ isResumed: true, threadId });
      await second.complete('Which word?');
      // Codex may have put a summary in the place of what was before.
      expect(scene.model.requests.at(-1)?.conversation.memory).toMatch(/I do it by hand\.[\s\S]*Which word\?/);
    });
  },
  ['codex-acp'],
);
