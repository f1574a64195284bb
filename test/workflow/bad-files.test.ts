import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { inspectWorkflow } from '../../src/workflow/inspect-workflow.ts';
import { loadWorkflow } from '../../src/workflow/load-workflow.ts';
import { givenContext, refusal } from './given.ts';

/** Named here, as it comes with the system and not with a package. */
const makePipe = 'mkfifo';

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'baton-workflow-')));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function loading(content: string | Uint8Array) {
  const path = join(directory, 'WORKFLOW.md');
  writeFileSync(path, content);
  const error = refusal(() => loadWorkflow(path, givenContext()));
  expect(error.message).toContain(path);
  return error;
}

describe('files that are not workflow files', () => {
  // @conforms C56
  it('rejects a missing file', () => {
    const path = join(directory, 'nowhere', 'WORKFLOW.md');
    const error = refusal(() => loadWorkflow(path, givenContext()));
    expect(error).toMatchObject({ code: 'missing_workflow_file', details: { path, problem: 'not_found' } });
    expect(error.message).toContain(path);
    expect(error.cause).toMatchObject({ code: 'ENOENT' });
  });

  it('rejects a directory, and a path that goes through a file', () => {
    mkdirSync(join(directory, 'folder'));
    expect(refusal(() => loadWorkflow(join(directory, 'folder'), givenContext()))).toMatchObject({
      code: 'missing_workflow_file',
      details: { problem: 'directory' },
    });
    writeFileSync(join(directory, 'plain'), '');
    const through = refusal(() => loadWorkflow(join(directory, 'plain', 'WORKFLOW.md'), givenContext()));
    expect(through).toMatchObject({ code: 'missing_workflow_file', details: { problem: 'not_found' } });
  });

  it('a named pipe does not hang the daemon', () => {
    const pipe = join(directory, 'pipe');
    execFileSync(makePipe, [pipe]);
    expect(refusal(() => loadWorkflow(pipe, givenContext()))).toMatchObject({
      code: 'missing_workflow_file',
      details: { problem: 'not_a_regular_file' },
    });
  });

  it('rejects an empty file', () => {
    expect(loading('').code).toBe('missing_tracker_kind');
  });

  it('rejects binary files, UTF-16 and broken UTF-8', () => {
    const bad: readonly (readonly [content: Uint8Array, problem: string])[] = [
      [Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1]), 'nul_character'],
      [Buffer.from('---\ntracker: {kind: memory}\n---\n', 'utf16le'), 'nul_character'],
      [Buffer.from([0x68, 0xc3, 0x28]), 'not_utf8'],
    ];
    for (const [content, problem] of bad)
      expect(loading(content)).toMatchObject({ code: 'workflow_parse_error', details: { problem } });
  });

  // @conforms workflow.7
  it('rejects a file of 10 MB', () => {
    expect(loading(`---\ntracker: {kind: memory}\n---\n${'x'.repeat(10_000_000)}`).code).toBe('workflow_too_large');
    const most = 1024 * 1024;
    const front = '---\ntracker: {kind: memory}\n---\n';
    writeFileSync(join(directory, 'most.md'), front + 'x'.repeat(most - front.length));
    expect(loadWorkflow(join(directory, 'most.md'), givenContext()).settings.tracker.kind).toBe('memory');
    expect(loading(front + 'x'.repeat(most - front.length + 1)).code).toBe('workflow_too_large');
  });
});

describe('an inspection', () => {
  const inspected = (content: string) => {
    const path = join(directory, 'inspected.md');
    writeFileSync(path, content);
    return inspectWorkflow(path, givenContext());
  };

  it('lists all errors of an invalid file and throws nothing', () => {
    const { workflow, problems } = inspected(
      '---\ntracker: {kind: memory}\nagent: {max_turns: 0}\npolling: {interval_ms: x}\n---\n',
    );
    expect(workflow).toBeNull();
    expect(problems.map((problem) => problem.key)).toEqual(['polling.interval_ms', 'agent.max_turns']);
    expect(inspectWorkflow(join(directory, 'nowhere.md'), givenContext())).toMatchObject({
      workflow: null,
      problems: [{ code: 'missing_workflow_file', severity: 'error', key: null, details: { problem: 'not_found' } }],
    });
  });

  it('lists the warnings of a valid file, a template that cannot render first', () => {
    const { workflow, problems } = inspected(
      '---\ntracker: {kind: memory}\nobservability: {render_interval_ms: 1}\n---\n{{ nope }}',
    );
    expect(workflow?.settings.tracker.kind).toBe('memory');
    expect(problems.map((problem) => [problem.code, problem.severity])).toEqual([
      ['template_render_error', 'error'],
      ['unsupported_setting', 'warning'],
    ]);
  });
});
