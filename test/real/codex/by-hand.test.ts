// @module-tag full
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { codexResumeCommand } from '../../../src/agent/codex/resume-command.ts';
import { shell } from '../../fake/openai/scenario.ts';
import { describeWithCodex } from '../codex-binary.ts';
import { makeTerminal, openByHand } from '../person-at-terminal.ts';
import { useCodexScenes } from './codex-scene.ts';

/** The folder of the test may be below the folder for temporary files, which a sandbox allows. */
const narrow = '[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true';

await describeWithCodex('a person in the thread of a real Codex', (codex) => {
  const makeScene = useCodexScenes(codex);

  // @conforms runs.66
  it('opens it with the printed command, commits, blocks others while it is open, and leaves nothing behind', async ({
    skip,
  }) => {
    skip(!existsSync(makeTerminal), 'there is no script(1) here to make a terminal with');
    const commit = 'git add -A && git -c user.name=S -c user.email=s@example.org commit -qm "by hand"';
    const scene = await makeScene({
      scenario: { rules: [{ when: /Commit it/, steps: [{ calls: [shell(commit)] }, { message: 'committed' }] }] },
      // The sandbox of the person, narrower than that of a turn.
      home: { sandboxMode: 'read-only', more: narrow },
      options: { threadSandbox: 'workspace-write', turnSandboxPolicy: null },
    });
    const { workspace } = scene;
    const gitDir = path.join(scene.folder, 'git directory');
    execFileSync('git', ['init', '-q', '--separate-git-dir', gitDir, workspace]);
    const first = await scene.open({ writableRoots: [gitDir] });
    await first.complete('The word is kite.');
    await first.session.stop();
    const threadId = first.session.threadId ?? '';
    execFileSync('touch', [path.join(workspace, 'made.txt')]);

    const line = codexResumeCommand({ workspace, threadId, home: null, sandbox: 'workspace-write', gitDir });
    const person = openByHand(scene, codex.path, `${line} 'Commit it.'`);
    await person.sees('Open restricted');
    await person.presses('\r', 'committed');
    expect(execFileSync('git', ['log', '--format=%s'], { cwd: workspace, encoding: 'utf8' })).toBe('by hand\n');
    await expect(scene.open({ threadId })).rejects.toMatchObject({
      code: 'agent_thread_in_use',
      message: expect.stringContaining('already has an active writer'),
    });
    person.types('/quit');
    await person.sees('exit Codex');
    person.types('\r');
    expect(await person.ended).toBe(0);

    const second = await scene.open({ threadId });
    expect(second.session).toMatchObject({ isResumed: true, threadId });
    await second.complete('Which word?');
    expect(scene.model.requests.at(-1)?.conversation.memory).toMatch(
      /The word is kite\.[\s\S]*Commit it\.[\s\S]*committed[\s\S]*Which word\?/,
    );
    expect(readFileSync(path.join(scene.env.CODEX_HOME ?? '', 'config.toml'), 'utf8')).not.toContain('trust_level');
  });
});
