import type { RunDetail, Span } from '../../../src/client/schema/run.ts';
import { type Bar, barsOf } from './waterfall-bars.ts';

/** A step of a run: a stage with its turns, a turn with its tool calls and questions. */
export interface Step extends Bar {
  readonly result: 'ok' | 'failed' | 'running' | 'unknown';
  readonly children: readonly Step[];
  /** Leads to the step that failed the run, or to what happens now: it is open at first. */
  readonly isOnPath: boolean;
}

type SteppedRun = Pick<RunDetail, 'started_at' | 'ended_at' | 'outcome' | 'spans'>;

interface Node {
  readonly bar: Bar;
  readonly children: Node[];
}

/** The outcomes whose cause is worth reading. */
const failures: ReadonlySet<string | null> = new Set(['failed', 'timed_out', 'stalled']);

/**
 * The spans of a run as a tree, in order. The daemon only knows that a run failed in its last stage; where a turn
 * failed, the turn and its stage are the failed steps, and the stage after them is not.
 */
export function stepTree(run: SteppedRun, nowMs: number): readonly Step[] {
  const roots: Node[] = [];
  const turns: { readonly node: Node; readonly span: Span }[] = [];
  for (const [index, bar] of barsOf(run, run.spans, nowMs).entries()) {
    const span = run.spans[index];
    if (span === undefined) continue;
    const node: Node = { bar, children: [] };
    const stage = roots.at(-1);
    const turn = turns.findLast(({ span: { ended_at } }) => ended_at === null || span.started_at <= ended_at)?.node;
    if (bar.kind === 'stage' || stage === undefined) roots.push(node);
    else if (bar.kind === 'turn') stage.children.push(node);
    else (turn ?? stage).children.push(node);
    if (bar.kind === 'turn') turns.push({ node, span });
  }
  const cause = failures.has(run.outcome) ? causeOf(roots) : null;
  const isOver = run.ended_at !== null;
  return roots.map((root) => stepOf(root, cause, isOver));
}

/** The first failed turn, or else the first failed stage. */
function causeOf(roots: readonly Node[]): Node | null {
  const turns = roots.flatMap(({ children }) => children).filter(({ bar }) => bar.kind === 'turn');
  return [...turns, ...roots].find(({ bar }) => bar.isOk === false) ?? null;
}

function stepOf({ bar, children }: Node, cause: Node | null, isOver: boolean): Step {
  const steps = children.map((child) => stepOf(child, cause, isOver));
  const isCause = cause?.bar === bar;
  const hasCause = children.some((child) => child.bar === cause?.bar);
  const isBlamed = bar.kind === 'stage' && cause !== null && !isCause;
  const result =
    isCause || hasCause
      ? 'failed'
      : bar.isOpen
        ? 'running'
        : isBlamed && bar.isOk === false
          ? 'unknown'
          : resultOf(bar);
  const isOnPath = isCause || (!isOver && bar.isOpen) || steps.some((step) => step.isOnPath);
  return { ...bar, result, children: steps, isOnPath };
}

function resultOf({ isOk }: Bar): Step['result'] {
  return isOk === null ? 'unknown' : isOk ? 'ok' : 'failed';
}
