// @module-tag full
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { type Step, shell } from '../../fake/openai/scenario.ts';
import { describeIsolated } from '../../security/machine.ts';
import { describeWithCodex } from '../codex-binary.ts';
import { useCodexScenes } from './codex-scene.ts';

const tellOutput: Step = { message: ({ lastOutput }) => lastOutput };
const change = 'cat kept.txt; echo changed > kept.txt; echo made > made.txt';
const patch = '*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch\n';

/** How the model may try to change the workspace. */
const attempts: readonly (readonly [string, Step])[] = [
  ['a command', { calls: [shell(change)] }],
  ['a command outside of the sandbox', { calls: [shell(change, { sandbox_permissions: 'require_escalated' })] }],
  ['a patch', { calls: [{ custom: 'apply_patch', input: patch }] }],
];

await describeWithCodex('a read-only session of a real Codex', (codex) => {
  const makeScene = useCodexScenes(codex);
  // The workflow file lets Codex do everything, and Baton approves everything.
  const free = {
    approvals: 'auto',
    threadSandbox: 'danger-full-access',
    turnSandboxPolicy: { type: 'dangerFullAccess' },
  } as const;

  const expectUnchanged = async (step: Step, approvalPolicy: string, isIsolated: boolean): Promise<string> => {
    const scene = await makeScene({
      isIsolated,
      home: { model: 'gpt-5.5' },
      scenario: { otherwise: [step, tellOutput] },
      options: { ...free, approvalPolicy },
    });
    const kept = path.join(scene.workspace, 'kept.txt');
    writeFileSync(kept, 'original');
    const { complete, session, asked } = await scene.open({ isReadOnly: true });
    const said = await complete('Change it.');
    await session.stop();
    expect(readdirSync(scene.workspace)).toEqual(['kept.txt']);
    expect(readFileSync(kept, 'utf8')).toBe('original');
    expect(asked).toEqual([]);
    return said;
  };

  it.each(attempts)('changes nothing by %s', async (_, step) => {
    for (const approvalPolicy of ['on-request', 'never']) await expectUnchanged(step, approvalPolicy, false);
  });

  it('runs commands that read', async () => {
    expect(await expectUnchanged({ calls: [shell('cat kept.txt')] }, 'untrusted', false)).toContain('original');
  });

  describeIsolated('in isolation', { timeout: 120_000 }, () => {
    it('changes nothing, and reads', async () => {
      expect(await expectUnchanged({ calls: [shell(change)] }, 'never', true)).toContain('original');
    });
  });
});
