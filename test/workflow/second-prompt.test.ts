import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { Problem } from '../../src/core/problem.ts';
import { getsSecondPrompt } from '../../src/core/prompt/choose-prompt.ts';
import { inspectWorkflow } from '../../src/workflow/inspect-workflow.ts';
import { loadWorkflow } from '../../src/workflow/load-workflow.ts';
import { WorkflowFile } from '../../src/workflow/workflow-file.ts';
import { issue } from '../fake/issues.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';
import { givenContext } from './given.ts';

/** A workflow file with a second prompt next to it. */
function scene(section = 'second_prompt: {file: prompts/b.md, share: 40}', body = 'First: {{ issue.title }}') {
  const folder = path.join(scratchFolder(), 'repo');
  const file = path.join(folder, 'WORKFLOW.md');
  const second = path.join(folder, 'prompts/b.md');
  mkdirSync(path.dirname(second), { recursive: true });
  const write = (front: string, text = body): void =>
    writeFileSync(file, `---\ntracker: {kind: memory}\n${front}\n---\n${text}\n`);
  write(section);
  writeFileSync(second, '\nSecond: {{ issue.title }}\n\n');
  return { folder, file, second, write, load: () => loadWorkflow(file, givenContext()) };
}

const ids = Array.from({ length: 40 }, (_, n) => `id-${n}`);
const worker = (issueId: string) => ({ issueId, role: 'worker', phase: null }) as const;
const input = (id: string) => ({ issue: issue({ id, title: 'T' }), attempt: null, retryKind: null, fenceMark: null });

describe('a second prompt', () => {
  // @conforms 4.131b
  it('goes to its share of the issues, the same for all runs of an issue, and has a version of its own', () => {
    const { load } = scene();
    const workflow = load();
    for (const id of ids) {
      const isSecond = getsSecondPrompt(id, 40);
      expect(workflow.renderPrompt(input(id))).toBe(isSecond ? 'Second: T' : 'First: T');
      expect(workflow.promptOf(worker(id)).source).toBe(isSecond ? 'prompts/b.md' : 'WORKFLOW.md');
    }
    const versions = new Set(ids.map((id) => workflow.promptOf(worker(id)).version));
    expect(versions.size).toBe(2);
    expect(workflow.prompts).toMatchObject([
      { role: 'worker', source: 'WORKFLOW.md', share: 60 },
      { role: 'worker', source: 'prompts/b.md', share: 40 },
    ]);
    const judge = workflow.promptOf({ issueId: 'x', role: 'judge', phase: null });
    expect(judge.source).toBe('built in');
  });

  it('has a version that is the hash of its text alone', () => {
    const one = scene();
    const versions = () => one.load().prompts.map(({ version }) => version);
    const before = versions();
    one.write('second_prompt: {file: prompts/b.md, share: 10}\npolling: {interval_ms: 5}');
    expect(versions()).toEqual(before);
    one.write('', 'Second: {{ issue.title }}');
    expect(versions()).toEqual([before[1]]);
  });

  const problems = (
    front: string,
    prepare: (stage: ReturnType<typeof scene>) => void = () => {},
  ): readonly Problem[] => {
    const stage = scene(front);
    prepare(stage);
    return inspectWorkflow(stage.file, givenContext()).problems;
  };

  it.each([
    ['second_prompt: {file: prompts/none.md}', 'not_found'],
    ['second_prompt: {file: prompts}', 'directory'],
    ['second_prompt: {file: ../b.md}', 'path_outside'],
    ['second_prompt: {file: /etc/passwd}', 'path_outside'],
    ['second_prompt: {file: prompts/link.md}', 'path_outside'],
    ['second_prompt: {file: prompts/empty.md}', 'blank'],
    ['second_prompt: {file: prompts/broken.md}', 'not_liquid'],
  ])('is refused for %s', (front, problem) => {
    const found = problems(front, ({ folder }) => {
      writeFileSync(path.join(folder, '../secret'), 'a secret');
      symlinkSync('../../secret', path.join(folder, 'prompts/link.md'));
      writeFileSync(path.join(folder, 'prompts/empty.md'), ' \n');
      writeFileSync(path.join(folder, 'prompts/broken.md'), '{% if %}');
    });
    expect(found).toMatchObject([{ key: 'second_prompt.file', severity: 'error', details: { problem } }]);
  });

  it('is tried with sample issues like the first one, whatever its share', () => {
    const found = problems('second_prompt: {file: prompts/b.md, share: 1}', ({ second }) =>
      writeFileSync(second, '{{ issue.nothing }}'),
    );
    expect(found).toMatchObject([{ key: 'second_prompt.file', code: 'template_render_error' }]);
  });

  it.each(['0', '101', '0.5', 'half'])('is refused with the share %s', (share) => {
    expect(problems(`second_prompt: {file: prompts/b.md, share: ${share}}`)).toMatchObject([
      { key: 'second_prompt.share', severity: 'error' },
    ]);
  });

  it('is read again when it changes, and the last good one stays while it is gone', async () => {
    const { file, second } = scene('second_prompt: {file: prompts/b.md, share: 100}');
    const logger = memoryLogger();
    await using source = await WorkflowFile.start({ path: file, context: givenContext(), clock: systemClock, logger });
    const text = (): string => source.read().workflow.renderPrompt(input('x'));
    const first = source.read().workflow.revision;
    writeFileSync(second, 'Changed: {{ issue.title }}');
    expect(text()).toBe('Changed: T');
    expect(source.read().workflow.revision).not.toBe(first);
    rmSync(second);
    expect(source.read().problem).toMatchObject({ code: 'invalid_workflow_config' });
    expect(text()).toBe('Changed: T');
    source.read();
    expect(logger.events().filter((event) => event === 'workflow_invalid')).toHaveLength(1);
    writeFileSync(second, 'Again: {{ issue.title }}');
    expect(text()).toBe('Again: T');
    expect(source.read().problem).toBeNull();
  });

  it('waits for a person when a change of the file names another one', async () => {
    const { file, folder, write } = scene('second_prompt: {file: prompts/b.md, share: 100}');
    writeFileSync(path.join(folder, 'prompts/c.md'), 'Third');
    const options = { path: file, context: givenContext(), clock: systemClock, logger: memoryLogger() };
    await using source = await WorkflowFile.start(options);
    write('second_prompt: {file: prompts/c.md, share: 90}');
    const { waiting, workflow } = source.read();
    expect(waiting?.settings).toMatchObject([{ key: 'second_prompt.file', after: 'prompts/c.md' }]);
    expect(workflow.settings.secondPrompt).toEqual({ file: 'prompts/b.md', share: 90 });
    expect(source.takeWaiting(null)).toEqual({ keys: ['second_prompt.file'] });
    expect(source.read().workflow.settings.secondPrompt.file).toBe('prompts/c.md');
  });
});
