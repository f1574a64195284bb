// @module-tag full
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { ClaudeOptions } from '../../../src/agent/claude/settings.ts';
import type { Step, ToolCall } from '../../fake/openai/scenario.ts';
import { describeIsolated } from '../../security/machine.ts';
import { describeWithClaude } from '../claude-binary.ts';
import { bash, useClaudeScenes } from './claude-scene.ts';

const tellOutput: Step = { message: ({ lastOutput }) => lastOutput };
const change = 'cat kept.txt; echo changed > kept.txt; echo made > made.txt';

await describeWithClaude('a read-only session of a real Claude Code', (claude) => {
  const makeScene = useClaudeScenes(claude);

  const expectUnchanged = async (
    callsIn: (workspace: string) => readonly ToolCall[],
    options: Partial<ClaudeOptions>,
    isIsolated = false,
  ): Promise<string> => {
    const scene = await makeScene({ isIsolated, options: { approvals: 'auto', ...options } });
    const kept = path.join(scene.workspace, 'kept.txt');
    writeFileSync(kept, 'original');
    const steps = callsIn(scene.workspace).map((call) => ({ calls: [call] }));
    const write = { name: 'Write', arguments: { file_path: path.join(scene.workspace, 'made.txt'), content: 'made' } };
    scene.model.play({
      rules: [
        { when: /^SUBTASK/, steps: [{ calls: [write] }, { calls: [bash(change)] }, { message: 'the helper is done' }] },
        { when: /^Change it/, steps: [...steps, tellOutput] },
      ],
    });
    const { complete, session, asked } = await scene.open({ isReadOnly: true });
    const said = await complete('Change it.');
    await session.stop();
    expect(readdirSync(scene.workspace)).toEqual(['kept.txt']);
    expect(readFileSync(kept, 'utf8')).toBe('original');
    expect(asked).toEqual([]);
    return said;
  };

  const edits = (workspace: string): readonly ToolCall[] => {
    const [kept, made] = ['kept.txt', 'made.txt'].map((name) => path.join(workspace, name));
    return [
      { name: 'Read', arguments: { file_path: kept } },
      { name: 'Edit', arguments: { file_path: kept, old_string: 'original', new_string: 'changed' } },
      { name: 'Write', arguments: { file_path: made, content: 'made' } },
      bash(change),
      { name: 'Read', arguments: { file_path: kept } },
    ];
  };

  it.each([
    ['with the mode acceptEdits', { permissionMode: 'acceptEdits' }],
    ['with that mode among the arguments', { args: ['--permission-mode', 'acceptEdits', '--disallowedTools', 'Task'] }],
    ['with rules that allow to edit', { allowedTools: ['Edit', 'Write', 'Bash(cat *)'] }],
  ] as const)('changes nothing %s, and reads', async (_, options) => {
    expect(await expectUnchanged(edits, options)).toContain('original');
  });

  it('changes nothing by a sub-agent', async () => {
    const task = {
      description: 'helper',
      prompt: 'SUBTASK',
      subagent_type: 'general-purpose',
      run_in_background: false,
    };
    const said = await expectUnchanged(() => [{ name: 'Task', arguments: task }], { permissionMode: 'acceptEdits' });
    expect(said).toContain('the helper is done');
  });

  describeIsolated('in isolation', { timeout: 120_000 }, () => {
    it('changes nothing by a command that a rule allows, and reads', async () => {
      expect(await expectUnchanged(() => [bash(change)], { allowedTools: ['Bash'] }, true)).toContain('original');
    });
  });
});
