import { describe, expect, it } from 'vitest';
import { type Step, stepTree } from '../../dashboard/data/run/step-tree.ts';
import type { RunDetail, Span } from '../../src/client/schema/run.ts';

const start = Date.parse('2026-01-01T10:00:00.000Z');
const at = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();
const span = (
  kind: Span['kind'],
  name: string,
  from: number,
  to: number | null,
  isOk: boolean | null = true,
): Span => ({
  kind,
  name,
  started_at: at(from),
  ended_at: to === null ? null : at(to),
  is_ok: to === null ? null : isOk,
});
const tree = (outcome: RunDetail['outcome'], spans: readonly Span[]): readonly Step[] =>
  stepTree(
    { started_at: at(0), ended_at: outcome === null ? null : at(100), outcome, spans: [...spans] },
    start + 50_000,
  );
/** `name:result`, with a star where it is open at first, and its children. */
const told = (steps: readonly Step[]): unknown[] =>
  steps.map(({ name, result, isOnPath, children }) => {
    const line = `${name}:${result}${isOnPath ? '*' : ''}`;
    return children.length === 0 ? line : [line, ...told(children)];
  });

describe('the steps of a run', () => {
  it('are stages with their turns, and turns with their tool calls and questions', () => {
    const steps = tree('succeeded', [
      span('stage', 'prepare', 0, 10),
      span('stage', 'work', 10, 90),
      span('turn', 'turn 1', 10, 50),
      span('tool', 'ls', 20, 21),
      span('question', 'why?', 30, 40),
      span('turn', 'turn 2', 50, 90),
      span('tool', 'make', 60, 61, false),
      span('stage', 'finish', 90, 100),
    ]);
    // A tool that failed is not what failed a run.
    expect(told(steps)).toEqual([
      'prepare:ok',
      ['work:ok', ['turn 1:ok', 'ls:ok', 'why?:ok'], ['turn 2:ok', 'make:failed']],
      'finish:ok',
    ]);
  });

  it('are open down to the turn that failed, and the last stage is not blamed for it', () => {
    const steps = tree('failed', [
      span('stage', 'prepare', 0, 10),
      span('stage', 'work', 10, 90),
      span('turn', 'turn 1', 10, 50),
      span('turn', 'turn 2', 50, 90, false),
      span('stage', 'finish', 90, 100, false),
    ]);
    expect(told(steps)).toEqual(['prepare:ok', ['work:failed*', 'turn 1:ok', 'turn 2:failed*'], 'finish:unknown']);
  });

  it('blame the stage where no turn failed', () => {
    expect(told(tree('timed_out', [span('stage', 'prepare', 0, 100, false)]))).toEqual(['prepare:failed*']);
  });

  it('are open down to what happens now', () => {
    const steps = tree(null, [
      span('stage', 'prepare', 0, 10),
      span('stage', 'work', 10, null),
      span('turn', 'turn 1', 10, null),
      span('tool', 'ls', 20, 21),
      span('tool', 'make', 30, null),
    ]);
    expect(told(steps)).toEqual(['prepare:ok', ['work:running*', ['turn 1:running*', 'ls:ok', 'make:running*']]]);
  });
});
