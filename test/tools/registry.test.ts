import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { errorCatalogue } from '../../src/core/error-catalogue.ts';
import type { ToolAnswer } from '../../src/core/tool-set.ts';
import { createBoardTracker } from '../../src/tracker/board/board-tracker.ts';
import type { NativeTool, Tracker } from '../../src/tracker/tracker.ts';
import { runs } from '../property-runs.ts';
import { telling } from '../telling.ts';
import { ada, openScene, theOrchestrator } from '../tracker/board-scene.ts';
import { errorIn, memory, openTools, trackerCalls, trackerThat } from './open-tools.ts';

const fixedNames = ['get_issue', 'comment', 'update_issue_status', 'ask_person', 'report_progress'];

function native(name: string, call: NativeTool['call']): NativeTool {
  return { name, description: 'Asks the tracker.', inputSchema: { type: 'object', required: ['query'] }, call };
}

function withNative(...nativeTools: NativeTool[]): Tracker {
  const { kind, changes, fetchByIds, fetchByStates } = trackerThat(async () => never());
  return { kind, changes, fetchByIds, fetchByStates, nativeTools };
}

function never(): never {
  throw new Error('This is not called.');
}

describe('the tools of a run', () => {
  // @conforms tools.21
  it('refuse more than a hundred calls at a time with an answer, and work again afterwards', async () => {
    const held = Promise.withResolvers<ToolAnswer>();
    let served = 0;
    const slow = native('slow', () => {
      served += 1;
      return held.promise;
    });
    const { toolSet } = openTools(withNative(slow));
    const waiting = Array.from({ length: 100 }, () => toolSet.call('slow', {}));
    const refused = await Promise.all(Array.from({ length: 50 }, () => toolSet.call('slow', {})));
    for (const { success, output } of refused) {
      expect(success).toBe(false);
      expect(errorIn(output)).toMatchObject({ code: 'request_limited', next_step: expect.any(String) });
    }
    expect(served).toBe(100);
    held.resolve({ success: true, output: 'at last' });
    expect(await Promise.all(waiting)).toHaveLength(100);
    expect(await toolSet.call('slow', {})).toEqual({ success: true, output: 'at last' });
    const taken = new AbortController();
    taken.abort();
    for (let call = 0; call < 150; call += 1) await toolSet.call('slow', {}, taken.signal);
    expect(await toolSet.call('report_progress', { text: 'all of them were over' })).toMatchObject({ success: true });
  });

  // @conforms 4.139
  it('have create_pr where a change goes to review; it passes the words on and changes nothing by itself', async () => {
    const proposed: object[] = [];
    const { toolSet, moves } = openTools(memory(), { onPropose: (proposal) => proposed.push(proposal) });
    expect(toolSet.tools.map(({ name }) => name)).toContain('create_pr');
    expect(await toolSet.call('create_pr', { title: ' Greet ', body: 'Why: asked.' })).toMatchObject({ success: true });
    expect(await toolSet.call('create_pr', { title: 'Greet again' })).toMatchObject({ success: true });
    expect(proposed).toEqual([
      { title: 'Greet', body: 'Why: asked.' },
      { title: 'Greet again', body: '' },
    ]);
    expect(moves).toEqual([]);
    for (const bad of [{}, { title: ' ' }, { title: 'a'.repeat(201) }, { title: 'a', body: 'b'.repeat(20_001) }]) {
      expect(await toolSet.call('create_pr', bad)).toMatchObject({ success: false });
    }
    expect(proposed).toHaveLength(2);
    const without = openTools().toolSet;
    expect(errorIn((await without.call('create_pr', { title: 'Greet' })).output)).toMatchObject({
      code: 'unsupported_tool_call',
    });
  });

  // @conforms A37
  it('have fixed names and a JSON Schema for their input', () => {
    const { toolSet } = openTools();
    expect(toolSet.tools.map(({ name }) => name)).toEqual(fixedNames);
    expect(toolSet.tools[1]?.inputSchema).toMatchObject({
      type: 'object',
      required: ['body'],
      additionalProperties: false,
    });
    for (const { description } of toolSet.tools) expect(description).not.toBe('');
  });

  // @conforms spec-10.5
  it('read and change only the issue of the run, as its author', async () => {
    const tracker = memory();
    const { toolSet, progress, moves } = openTools(tracker);
    expect(JSON.parse((await toolSet.call('get_issue', {})).output)).toMatchObject({ id: '1', state: 'Todo' });
    expect(await toolSet.call('update_issue_status', { status: 'done' })).toEqual({
      success: true,
      output: telling('T-1', '"Done"'),
    });
    await toolSet.call('comment', { body: ' ready ' });
    await toolSet.call('report_progress', { text: 'half way' });
    expect(tracker.all().map(({ state }) => state)).toEqual(['Done', 'Todo']);
    expect(tracker.commentsOn('1')).toMatchObject([{ body: 'ready', author: { kind: 'run', runId: 'run-1' } }]);
    expect(progress).toEqual(['half way']);
    expect(moves).toEqual(['done']);
  });

  it.each([
    ['arguments of the wrong shape', 'comment', { text: 'x' }, 'invalid_tool_arguments'],
    ['arguments that are no object', 'comment', 'x', 'invalid_tool_arguments'],
    ['arguments that are a list', 'get_issue', [], 'invalid_tool_arguments'],
    ['a comment of nothing', 'comment', { body: ' \n ' }, 'invalid_tool_arguments'],
    ['a comment without end', 'comment', { body: 'x'.repeat(65_537) }, 'invalid_tool_arguments'],
    [
      'another issue named in the arguments',
      'update_issue_status',
      { status: 'Done', id: '2' },
      'invalid_tool_arguments',
    ],
    ['a state the tracker does not have', 'update_issue_status', { status: 'Nirvana' }, 'tracker_state_unknown'],
  ])('answer %s with a structured failure', async (_what, name, input, code) => {
    const answer = await openTools().toolSet.call(name, input);
    expect(answer.success).toBe(false);
    expect(errorIn(answer.output)).toMatchObject({
      code,
      message: expect.any(String),
      next_step: expect.any(String),
      retryable: false,
    });
  });

  it('answer any input, and never reject', async () => {
    const { toolSet } = openTools();
    const names = fc.constantFrom('get_issue', 'comment', 'update_issue_status', 'report_progress', 'ask_person', '');
    await fc.assert(
      fc.asyncProperty(fc.oneof(names, fc.string()), fc.anything(), async (name, input) => {
        // What a person could be asked waits for him; it has tests of its own.
        fc.pre(name !== 'ask_person' || typeof input !== 'object');
        const { success, output } = await toolSet.call(name, input);
        if (!success) expect(errorIn(output).code).toEqual(expect.any(String));
      }),
    );
    let deep: unknown = 'x';
    for (let depth = 0; depth < 100_000; depth += 1) deep = { body: deep };
    expect((await toolSet.call('comment', deep)).success).toBe(false);
  });

  // @conforms A16, A35
  it('list the tools after an unknown call, with the text of the reference', async () => {
    const { toolSet } = openTools();
    const answer = await toolSet.call('not_a_real_tool', {});
    expect(answer.success).toBe(false);
    expect(errorIn(answer.output)).toMatchObject({
      code: 'unsupported_tool_call',
      message: 'Unsupported dynamic tool: "not_a_real_tool".',
      supportedTools: fixedNames,
    });
    expect((await toolSet.call('x'.repeat(10_000), {})).output.length).toBeLessThan(1_000);
    for (const name of ['constructor', '__proto__', 'toString', ' comment'])
      expect((await toolSet.call(name, { body: 'x' })).success, name).toBe(false);
  });

  it('count what an agent reports, if its backend does not see it', async () => {
    const used: unknown[] = [];
    const { toolSet } = openTools(memory(), { onUsage: (usage) => used.push(usage) });
    expect(toolSet.tools.map(({ name }) => name)).toEqual([...fixedNames, 'report_usage']);
    expect(await toolSet.call('report_usage', { input_tokens: 10, cost_usd: 0.5 })).toMatchObject({ success: true });
    expect(used).toEqual([{ inputTokens: 10, outputTokens: 0, costMicroUsd: 500_000 }]);
    for (const input of [{ input_tokens: -1 }, { cost_usd: Number.NaN }, { output_tokens: 0.5 }, { tokens: 1 }])
      expect(errorIn((await toolSet.call('report_usage', input)).output)).toMatchObject({
        code: 'invalid_tool_arguments',
      });
    expect(used).toHaveLength(1);
  });

  it('leave out changes for a read-only tracker', async () => {
    const tracker: Tracker = {
      kind: 'stone',
      changes: null,
      fetchByIds: async () => [],
      fetchByStates: async () => [],
    };
    const { toolSet } = openTools(tracker);
    expect(toolSet.tools.map(({ name }) => name)).toEqual(['get_issue', 'ask_person', 'report_progress']);
    expect((await toolSet.call('comment', { body: 'x' })).success).toBe(false);
    expect(errorIn((await toolSet.call('get_issue', {})).output)).toMatchObject({ code: 'tracker_issue_not_found' });
  });

  it('follow the allowed moves of the board, and list them', async () => {
    const scene = await openScene();
    try {
      const { issue } = await scene.board.create({ title: 'Mend the door' }, ada);
      await scene.board.move(issue.id, 'in_progress', theOrchestrator);
      const { toolSet } = openTools(createBoardTracker(scene.board, scene.store), { issueId: issue.id });
      const refused = errorIn((await toolSet.call('update_issue_status', { status: 'done' })).output);
      expect(refused).toMatchObject({
        code: 'board_move_refused',
        message: telling('review', 'blocked'),
        details: { from: 'in_progress', to: 'done', allowed: ['review', 'blocked'] },
      });
      expect((await toolSet.call('update_issue_status', { status: 'review' })).success).toBe(true);
    } finally {
      await scene.close();
    }
  });
});

describe('the tools of a tracker', () => {
  // @conforms A17
  it('are offered with the fixed ones unchanged, and count as requests of agents', async () => {
    const heard: unknown[] = [];
    const said: ToolAnswer = { success: false, output: '{"errors":[{"message":"no"}],"data":null}' };
    const tool = native('stone_query', async (input, ask) => {
      heard.push([input, ask.caller]);
      return said;
    });
    const { toolSet } = openTools(withNative(tool));
    expect(toolSet.tools.map(({ name }) => name)).toEqual([...fixedNames, 'stone_query']);
    expect(toolSet.tools.at(-1)).toEqual({
      name: 'stone_query',
      description: 'Asks the tracker.',
      inputSchema: { type: 'object', required: ['query'] },
    });
    expect(await toolSet.call('stone_query', 'query { viewer }')).toEqual(said);
    expect(heard).toEqual([['query { viewer }', { job: 'agent_tools', cause: 'agent' }]]);
    expect(errorIn((await toolSet.call('x', {})).output).supportedTools).toEqual([...fixedNames, 'stone_query']);
  });

  it('never replace a fixed one, not even one that is not offered', async () => {
    const impostor = native('comment', async () => never());
    const tracker = memory();
    await openTools(Object.assign(tracker, { nativeTools: [impostor] })).toolSet.call('comment', { body: 'x' });
    expect(tracker.commentsOn('1')).toHaveLength(1);
    const { toolSet } = openTools({ ...withNative(impostor), changes: null });
    expect(toolSet.tools.map(({ name }) => name)).not.toContain('comment');
  });

  // @conforms ref-1.10
  it('stay the same as when the session began', async () => {
    const tracker = { ...withNative(native('old_query', async () => ({ success: true, output: 'old' }))) };
    const { toolSet } = openTools(tracker);
    Object.assign(tracker, { nativeTools: [native('new_query', async () => never())] });
    expect(toolSet.tools.at(-1)?.name).toBe('old_query');
    expect(await toolSet.call('old_query', {})).toEqual({ success: true, output: 'old' });
    expect((await toolSet.call('new_query', {})).success).toBe(false);
  });

  it('may throw', async () => {
    const { toolSet } = openTools(
      withNative(
        native('throws', () => never()),
        native('rejects', async () => never()),
      ),
    );
    for (const name of ['throws', 'rejects'])
      expect(errorIn((await toolSet.call(name, {})).output), name).toMatchObject({ code: 'internal_error' });
  });
});

describe('a call', () => {
  it.each(trackerCalls)('to %s asks the tracker as an agent, with a signal', async (name, input) => {
    const tracker = trackerThat(async () => never());
    await openTools(tracker).toolSet.call(name, input);
    expect(tracker.asks).toMatchObject([
      { caller: { job: 'agent_tools', cause: 'agent' }, signal: expect.any(AbortSignal) },
    ]);
  });

  // @conforms tools.2
  it.each([...trackerCalls, ['report_progress', { text: 'x' }], ['ask_person', { question: 'x?' }]] as const)(
    'to %s is refused when the claim may be lost, and nothing is done',
    async (name, input) => {
      const tracker = trackerThat(async () => never());
      let isOurs = true;
      const { toolSet, progress, moves, asked } = openTools(tracker, { isStillOurs: () => isOurs });
      isOurs = false;
      const answer = await toolSet.call(name, input);
      expect(errorIn(answer.output)).toMatchObject({ code: 'claim_lost', next_step: expect.any(String) });
      expect(errorIn(answer.output).next_step).not.toBe(errorCatalogue.claim_lost.nextStep);
      expect([answer.success, tracker.asks, progress, moves, asked]).toEqual([false, [], [], [], []]);
    },
  );

  // @conforms tools.1
  it.each(trackerCalls)('to %s that hangs is given up after a minute, and its signal aborts', async (name, input) => {
    const tracker = trackerThat(() => new Promise(() => {}));
    const { toolSet, clock } = openTools(tracker);
    let answer: ToolAnswer | null = null;
    const called = toolSet.call(name, input).then((given) => {
      answer = given;
      return given;
    });
    await clock.advance(59_999);
    expect(answer).toBeNull();
    await clock.advance(1);
    const error = errorIn((await called).output);
    expect(error).toMatchObject({ code: 'tracker_request', message: telling(name, 60) });
    // Whether a change was made is to be seen with the tool that reads.
    expect(String(error.next_step).includes('get_issue')).toBe(name !== 'get_issue');
    expect(tracker.asks[0]?.signal?.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('leaves no timer behind after its answer', async () => {
    const { toolSet, clock } = openTools();
    await Promise.all([toolSet.call('get_issue', {}), toolSet.call('comment', {}), toolSet.call('nothing', {})]);
    expect(clock.pending).toBe(0);
  });

  it('is cancelled when the caller stops waiting, before it begins or in the middle', async () => {
    const tracker = trackerThat(() => new Promise(() => {}));
    const { toolSet, clock } = openTools(tracker);
    const gone = AbortSignal.abort();
    expect(errorIn((await toolSet.call('comment', { body: 'x' }, gone)).output)).toMatchObject({
      code: 'run_cancelled',
    });
    expect(tracker.asks).toEqual([]);
    const leaving = new AbortController();
    const called = toolSet.call('comment', { body: 'x' }, leaving.signal);
    expect(tracker.asks).toHaveLength(1);
    leaving.abort();
    expect(errorIn((await called).output)).toMatchObject({ code: 'run_cancelled' });
    expect([tracker.asks[0]?.signal?.aborted, clock.pending]).toEqual([true, 0]);
  });

  it.each(trackerCalls.slice(0, 3))(
    'to %s that exceeds the request budget says so, with a next step for the agent',
    async (name, input) => {
      const limited = new BatonError('tracker_rate_limited', 'Requests to the tracker are short.', {
        details: { step: 'closed', until: 1_000 },
      });
      const { toolSet } = openTools(trackerThat(async () => Promise.reject(limited)));
      const answer = await toolSet.call(name, input);
      expect(answer).toMatchObject({ success: false });
      expect(errorIn(answer.output)).toEqual({
        code: 'tracker_rate_limited',
        message: 'Requests to the tracker are short.',
        next_step: expect.any(String),
        retryable: true,
        details: { step: 'closed', until: 1_000 },
      });
      expect(errorIn(answer.output).next_step).not.toBe(errorCatalogue.tracker_rate_limited.nextStep);
      // No JSON inside of a text.
      expect(answer.output).not.toContain('\\"');
    },
  );

  it('may run with many others at the same time', async () => {
    const tracker = memory();
    const { toolSet } = openTools(tracker);
    const bodies = Array.from({ length: 50 }, (_, n) => `comment ${n}`);
    const answers = await Promise.all(bodies.map((body) => toolSet.call('comment', { body })));
    expect(answers.every(({ success }) => success)).toBe(true);
    expect(tracker.commentsOn('1').map(({ body }) => body)).toEqual(bodies);
  });

  it('returns a limited output, cut at a whole character, with a note', async () => {
    const most = 256 * 1_024;
    const say = (output: string) => native('say', async () => ({ success: true, output }));
    const outputOf = async (output: string) =>
      (await openTools(withNative(say(output))).toolSet.call('say', {})).output;
    expect(await outputOf('x'.repeat(most))).toBe('x'.repeat(most));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.constantFrom('é', '漢', '🧰'), async (shift, sign) => {
        const text = 'x'.repeat(shift) + sign.repeat(most / 2);
        const cut = await outputOf(text);
        const [kept = '', note] = cut.split('\n');
        expect(text.startsWith(kept)).toBe(true);
        expect(most - Buffer.byteLength(kept)).toBeLessThan(4);
        expect(most - Buffer.byteLength(kept)).toBeGreaterThanOrEqual(0);
        expect(note).toEqual(telling(most, Buffer.byteLength(text)));
      }),
      { numRuns: runs(20) },
    );
  });
});
