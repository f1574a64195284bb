import type { AgentQuestion, QuestionAnswer } from '../../src/core/command/question.ts';
import { openToolSet } from '../../src/tools/registry.ts';
import type { ToolContext } from '../../src/tools/tool.ts';
import { MemoryTracker } from '../../src/tracker/memory/memory-tracker.ts';
import type { Ask, Tracker } from '../../src/tracker/tracker.ts';
import { issue } from '../fake/issues.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';

export interface AskedQuestion {
  readonly question: AgentQuestion;
  readonly signal: AbortSignal | undefined;
  answer(answer: QuestionAnswer | null): void;
}

/** The tool set of a run on the issue `1` of the tracker, with everything that it reported. */
export function openTools(tracker: Tracker = memory(), changed: Partial<ToolContext> = {}) {
  const progress: string[] = [];
  const moves: (string | null)[] = [];
  const asked: AskedQuestion[] = [];
  const clock = new SimulatedClock();
  const toolSet = openToolSet({
    runId: 'run-1',
    issueId: '1',
    tracker,
    clock,
    onProgress: (text) => progress.push(text),
    onMove: (state) => moves.push(state),
    onNotMoved: () => moves.pop(),
    ask: (question, signal) => new Promise((answer) => asked.push({ question, signal, answer })),
    isStillOurs: () => true,
    ...changed,
  });
  return { toolSet, progress, moves, asked, clock };
}

export function memory(): MemoryTracker {
  return new MemoryTracker({
    issues: [issue({ id: '1' }), issue({ id: '2' })],
    states: ['Todo', 'Done'],
    clock: new SimulatedClock(),
  });
}

/** A tracker whose every act is this one; it notes how it was asked. */
export function trackerThat(act: (ask: Ask | undefined) => Promise<never>): Tracker & { readonly asks: Ask[] } {
  const asks: Ask[] = [];
  const noted = (ask?: Ask): Promise<never> => {
    if (ask !== undefined) asks.push(ask);
    return act(ask);
  };
  return {
    asks,
    kind: 'scripted',
    fetchByIds: (_ids, ask) => noted(ask),
    fetchByStates: (_states, ask) => noted(ask),
    changes: {
      moveIssue: (_id, _state, _author, ask) => noted(ask),
      addComment: (_id, _body, _author, ask) => noted(ask),
      changeLabels: (_id, _change, _author, ask) => noted(ask),
      createChildren: (_plan, _author, ask) => noted(ask),
    },
    nativeTools: [
      {
        name: 'scripted_query',
        description: 'Speaks the language of the tracker.',
        inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
        call: (_input, ask) => noted(ask),
      },
    ],
  };
}

/** The calls that reach a tracker. */
export const trackerCalls: readonly (readonly [name: string, input: unknown])[] = [
  ['get_issue', {}],
  ['comment', { body: 'x' }],
  ['update_issue_status', { status: 'Done' }],
  ['scripted_query', 'query { viewer }'],
];

export function errorIn(output: string): Record<string, unknown> {
  return JSON.parse(output).error;
}
