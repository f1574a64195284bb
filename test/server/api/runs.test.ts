import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunEventDraft } from '../../../src/store/tables/run-events.ts';
import { transcriptLine } from '../../../src/store/transcripts/transcript-line.ts';
import { anyCharacter } from '../../any-character.ts';
import { runStart } from '../../conformance/store.ts';
import { begun, type Scene } from '../../orchestrator/scene.ts';
import { runs } from '../../property-runs.ts';
import { telling } from '../../telling.ts';
import { projectOf } from './api-scene.ts';
import { readsOf, scratchTranscripts } from './read-scene.ts';

const at = '/api/v1/projects/test/runs';

async function started(stage: Scene, runId: string, over: Parameters<typeof runStart>[1] = {}): Promise<void> {
  await stage.store.runs.start(runStart(runId, { project: stage.project, ...over }));
}

interface ToldEvent extends Omit<RunEventDraft, 'seq'> {
  readonly payload?: unknown;
}

/** A run with these events in the index and in the transcript, as the journal writes them. */
async function withEvents(stage: Scene, runId: string, events: readonly ToldEvent[]) {
  await started(stage, runId);
  const transcripts = scratchTranscripts();
  await stage.store.runEvents.append(
    runId,
    events.map(({ at: when, name, summary }) => ({ at: when, name, summary })),
  );
  const lines = events.map((event, index) => transcriptLine({ ...event, seq: index + 1, run: runId }));
  await transcripts.append(runId, lines);
  return { ...readsOf([projectOf(stage, 'test', { transcripts })]), transcripts };
}

const some = (count: number, payload?: (n: number) => unknown): ToldEvent[] =>
  Array.from({ length: count }, (_, n) => ({
    at: n,
    name: 'notification',
    summary: `event ${n + 1}`,
    ...(payload === undefined ? {} : { payload: payload(n + 1) }),
  }));

const seqsOf = (page: { events: { seq: number }[] }): number[] => page.events.map(({ seq }) => seq);

describe('the list of runs', () => {
  it('returns the newest first, of all issues or of one issue by any of its names', async () => {
    const stage = await begun({ issues: [] });
    await started(stage, 'r1', { startedAt: 5 });
    await started(stage, 'r2', { startedAt: 7, issueId: 'i2', identifier: 'Bat-2' });
    await started(stage, 'r3', { project: 'another', startedAt: 9 });
    const { get, refused } = readsOf([projectOf(stage)]);
    const ids = async (address: string) => (await get(address)).runs.map((run: { run_id: string }) => run.run_id);
    expect(await ids(at)).toEqual(['r2', 'r1']);
    expect(await ids(`${at}?issue=bat-2`)).toEqual(['r2']);
    expect(await ids(`${at}?issue=i1`)).toEqual(['r1']);
    expect(await refused(`${at}?issue=nobody`)).toEqual([404, 'issue_not_found']);
  });

  // @conforms api.12
  it('returns each run once over all pages, also when many started at the same time and others start', async () => {
    const stage = await begun({ issues: [] });
    const { get } = readsOf([projectOf(stage)]);
    let [late, round] = [0, 0];
    const walked = fc.asyncProperty(
      fc.array(fc.nat(3), { maxLength: 15 }),
      fc.integer({ min: 1, max: 5 }),
      async (starts, limit) => {
        round += 1;
        const name = `issue-${round}`;
        for (const [n, startedAt] of starts.entries())
          await started(stage, `${name}-${n}`, { startedAt, issueId: name, identifier: name });
        const [seen, wanted] = [[] as string[], starts.map((_, n) => `${name}-${n}`)];
        if (wanted.length === 0) return;
        for (let cursor = ''; ; ) {
          const page = await get(`${at}?issue=${name}&limit=${limit}${cursor}`);
          seen.push(...page.runs.map((run: { run_id: string }) => run.run_id));
          if (page.next === null) break;
          cursor = `&cursor=${page.next}`;
          late += 1;
          await started(stage, `${name}-late-${late}`, { startedAt: 100, issueId: name, identifier: name });
        }
        expect(seen.toSorted()).toEqual(wanted.toSorted());
      },
    );
    await fc.assert(walked, { numRuns: runs(20) });
  });

  it.each(['cursor=x', 'cursor=e30', 'limit=0', 'limit=501', 'limit=many', 'cursor=%00'])(
    'rejects %s with 422',
    async (query) => {
      const { refused } = readsOf([projectOf(await begun())]);
      expect(await refused(`${at}?${query}`)).toEqual([422, 'invalid_request']);
      expect(await refused(`/api/v1/projects/test/issues?${query}`)).toEqual([422, 'invalid_request']);
    },
  );
});

describe('one run', () => {
  it('is found only in its own project', async () => {
    const stage = await begun({ issues: [] });
    await started(stage, 'theirs', { project: 'another' });
    const { refused } = readsOf([projectOf(stage)]);
    for (const below of ['', '/events', '/prompt', '/diff']) {
      expect(await refused(`${at}/theirs${below}`)).toEqual([404, 'run_not_found']);
      expect(await refused(`${at}/nobody${below}`)).toEqual([404, 'run_not_found']);
      expect(await refused(`/api/v1/projects/nobody/runs/theirs${below}`)).toEqual([404, 'project_not_found']);
    }
  });

  it('has its evidence, its end and the command that opens its conversation', async () => {
    const stage = await begun({ issues: [] });
    await started(stage, 'r1', { startedAt: 1_000, attempt: 2, retryKind: 'failure', account: 'main' });
    const git = { head: 'abcdef0123', branch: 'baton/t-1', ahead: 2, changed: 1, untracked: 0, conflicts: 0 };
    const publication = {
      branch: 'baton/t-1',
      commit: 'abcdef0123',
      before: null,
      reason: null,
      outcome: 'published' as const,
      elsewhere: null,
    };
    await stage.store.runs.record('r1', 1, {
      pid: 7,
      workspace: '/w/T-1',
      turns: 3,
      lastMessage: 'done <b>',
      totalTokens: 9,
      costMicroUsd: 1_500_000,
      evidence: { changed: true, fingerprint: 'f', git, publication },
    });
    const end = { endedAt: 5_000, outcome: 'failed', errorCode: 'agent_exited', errorMessage: 'it went' } as const;
    await stage.store.runs.finish('r1', 1, end);
    const project = projectOf(stage, 'test', {
      transcripts: scratchTranscripts(),
      resumeCommand: async (runId) => `codex resume ${runId}`,
    });
    const { get } = readsOf([project]);
    expect(await get(`${at}/r1`)).toMatchObject({
      outcome: 'failed',
      error_code: 'agent_exited',
      last_message: 'done <b>',
      attempt: 2,
      account: 'main',
      usage: { total_tokens: 9, cost_usd: 1.5 },
      resume_command: 'codex resume r1',
      are_spans_cut: false,
      evidence: { text: telling(2, 'baton/t-1'), changed: true, git },
      publication: telling('baton/t-1', 'abcdef0'),
      spans: [{ kind: 'stage', name: 'preparing_workspace', ended_at: '1970-01-01T00:00:05.000Z', is_ok: false }],
    });
  });

  it('has its stages, turns, tools and questions as spans, in order, with their ends', async () => {
    const stage = await begun({ issues: [] });
    const item = (method: string, more: object) => ({
      method,
      params: { item: { id: 'x', type: 'commandExecution', command: 'npm test', ...more } },
    });
    const { get } = await withEvents(stage, 'r1', [
      { at: 1_000, name: 'stage_changed', summary: 'preparing_workspace' },
      { at: 2_000, name: 'stage_changed', summary: 'streaming_turn' },
      { at: 2_000, name: 'session_started', summary: 's' },
      { at: 2_100, name: 'turn_started', summary: 's' },
      { at: 2_200, name: 'notification', summary: 'runs npm test', payload: item('item/started', {}) },
      {
        at: 3_200,
        name: 'notification',
        summary: 'x',
        payload: item('item/completed', { exitCode: 1, durationMs: 9 }),
      },
      {
        at: 3_300,
        name: 'notification',
        summary: 'x',
        payload: item('item/completed', { id: 'y', exitCode: 0, durationMs: 50 }),
      },
      { at: 3_400, name: 'tool_call_failed', summary: 'comment: it did not go' },
      { at: 4_000, name: 'turn_completed', summary: 's' },
      { at: 5_000, name: 'turn_started', summary: 's' },
    ]);
    const question = { kind: 'input', text: 'Which?', detail: '', fields: [] } as const;
    const asked = { project: stage.project, issueId: 'i1', identifier: 'BAT-1', question };
    await stage.store.questions.ask({ ...asked, id: 'q1', runId: 'r1', askedAt: 2_500 });
    await stage.store.questions.ask({ ...asked, id: 'q2', runId: 'other', askedAt: 2_500 });
    const { spans } = await get(`${at}/r1`);
    const shown = spans.map((span: Record<string, unknown>) => [
      ...[span.kind, span.name, Date.parse(String(span.started_at))],
      ...[span.ended_at === null ? null : Date.parse(String(span.ended_at)), span.is_ok],
    ]);
    expect(shown).toEqual([
      ['stage', 'preparing_workspace', 1_000, 2_000, true],
      ['stage', 'streaming_turn', 2_000, null, null],
      ['turn', 'turn 1', 2_100, 4_000, true],
      ['tool', 'npm test', 2_200, 3_200, false],
      ['question', 'Which?', 2_500, null, null],
      ['tool', 'npm test', 3_250, 3_300, true],
      ['tool', 'comment', 3_400, 3_400, false],
      ['turn', 'turn 2', 5_000, null, null],
    ]);
  });

  it('with very many spans returns the first and the last, and says so', async () => {
    const stage = await begun({ issues: [] });
    const calls = Array.from({ length: 1_200 }, (_, n) => ({
      at: n * 10,
      name: 'tool_call_completed',
      summary: `tool ${n}: ok`,
    }));
    const first = { at: 0, name: 'stage_changed', summary: 'succeeded' };
    const { get } = await withEvents(stage, 'r1', [first, ...calls]);
    const { spans, are_spans_cut: areCut } = await get(`${at}/r1`);
    expect(areCut).toBe(true);
    expect(spans).toHaveLength(500);
    expect(spans.at(-1).name).toBe('tool 1199');
    expect(spans[0].name).toBe('tool 0');
  });

  it('builds its spans whatever an agent wrote into its events', async () => {
    const stage = await begun({ issues: [] });
    const garbage = fc.array(
      fc.record({
        at: fc.nat(1_000),
        name: fc.constantFrom('notification', 'turn_started', 'turn_failed', 'stage_changed', '__proto__', 'toString'),
        summary: fc.string({ unit: anyCharacter }).map((text) => text.replaceAll('\0', '')),
        payload: fc.oneof(
          fc.jsonValue(),
          fc.record({
            method: fc.constantFrom('item/started', 'item/completed', 1),
            params: fc.record({
              item: fc.record({
                id: fc.oneof(fc.constantFrom('a', 'b'), fc.jsonValue()),
                type: fc.constantFrom('commandExecution', 'mcpToolCall', 'toString', null),
                durationMs: fc.oneof(fc.double(), fc.jsonValue()),
                command: fc.jsonValue(),
              }),
            }),
          }),
        ),
      }),
      { maxLength: 12 },
    );
    let number = 0;
    const drawn = fc.asyncProperty(garbage, async (events) => {
      number += 1;
      const { get } = await withEvents(stage, `r${number}`, events);
      // That it fits its schema is looked at on the way.
      await get(`${at}/r${number}`);
      await get(`${at}/r${number}/events?whole=1`);
    });
    await fc.assert(drawn, { numRuns: runs(40) });
  });

  it('returns the diff of its issue while it is the latest run', async () => {
    const stage = await begun({ issues: [] });
    await started(stage, 'r1', { startedAt: 1 });
    await started(stage, 'r2', { startedAt: 2 });
    const none = { base: null, head: null, branch: null, files: [], is_cut: false };
    const diff = async (issueId: string) => ({ ...none, why_none: `asked for ${issueId}` });
    const { get } = readsOf([projectOf(stage, 'test', { diff })]);
    expect((await get(`${at}/r2/diff`)).why_none).toBe('asked for i1');
    const ofEarlier = await get(`${at}/r1/diff`);
    expect(ofEarlier).toEqual({ ...none, why_none: expect.any(String) });
    expect(ofEarlier.why_none).not.toBe('asked for i1');
    expect((await get('/api/v1/projects/test/issues/BAT-1/diff')).why_none).toBe('asked for i1');
  });
});

describe('the events of a run', () => {
  it('are read forwards from any number, and backwards from the end', async () => {
    const stage = await begun({ issues: [] });
    const { get } = await withEvents(stage, 'r1', some(10));
    const first = await get(`${at}/r1/events?limit=4`);
    expect([seqsOf(first), first.after, first.has_more]).toEqual([[1, 2, 3, 4], 4, true]);
    const last = await get(`${at}/r1/events?limit=4&after=8`);
    expect([seqsOf(last), last.after, last.has_more]).toEqual([[9, 10], 10, false]);
    expect(await get(`${at}/r1/events?after=10`)).toEqual({ events: [], after: 10, has_more: false, run_ended: false });
    const end = await get(`${at}/r1/events?direction=backwards&limit=4`);
    expect([seqsOf(end), end.after, end.has_more]).toEqual([[7, 8, 9, 10], 7, true]);
    const before = await get(`${at}/r1/events?direction=backwards&limit=100&after=7`);
    expect([seqsOf(before), before.after, before.has_more]).toEqual([[1, 2, 3, 4, 5, 6], 1, false]);
  });

  it('include payloads on request, also shortened ones, and none where the transcript has none', async () => {
    const stage = await begun({ issues: [] });
    const { get } = await withEvents(stage, 'r1', [
      { at: 1, name: 'notification', summary: 'a', payload: { text: '</script>' } },
      { at: 2, name: 'notification', summary: 'b', payload: 'x'.repeat(300_000) },
      { at: 3, name: 'notification', summary: 'c' },
    ]);
    await stage.store.runEvents.append('r1', [{ at: 4, name: 'notification', summary: 'on its way' }]);
    const { events } = await get(`${at}/r1/events?whole=1`);
    expect(events[0].payload).toEqual({ text: '</script>' });
    expect(events[1].payload.payload_cut.bytes).toBe(300_002);
    expect([Object.hasOwn(events[2], 'payload'), Object.hasOwn(events[3], 'payload')]).toEqual([false, false]);
    expect((await get(`${at}/r1/events`)).events.some((event: object) => 'payload' in event)).toBe(false);
  });

  // @conforms api.13
  it('never exceed the size of an answer, and each is found once in both directions', async () => {
    const stage = await begun({ issues: [] });
    const { get } = await withEvents(
      stage,
      'r1',
      some(60, (n) => `${n}`.padEnd(200_000, 'x')),
    );
    for (const direction of ['forwards', 'backwards']) {
      const seen: number[] = [];
      let after = '';
      for (let pages = 0; pages < 50; pages += 1) {
        const page = await get(`${at}/r1/events?whole=1&limit=1000&direction=${direction}${after}`);
        expect(JSON.stringify(page).length).toBeLessThan(5 * 1024 * 1024);
        seen.push(...(direction === 'forwards' ? seqsOf(page) : seqsOf(page).toReversed()));
        expect(
          page.events.every((event: { payload: string; seq: number }) => event.payload.startsWith(`${event.seq}x`)),
        ).toBe(true);
        after = `&after=${page.after}`;
        if (!page.has_more) break;
      }
      const all = Array.from({ length: 60 }, (_, n) => n + 1);
      expect(seen).toEqual(direction === 'forwards' ? all : all.toReversed());
    }
  });

  it.each(['limit=1001', 'limit=0', 'after=-1', 'after=x', 'whole=2', 'direction=up'])(
    'reject %s with 422',
    async (query) => {
      const stage = await begun({ issues: [] });
      await started(stage, 'r1');
      expect(await readsOf([projectOf(stage)]).refused(`${at}/r1/events?${query}`)).toEqual([422, 'invalid_request']);
    },
  );
});

describe('the prompt of a run', () => {
  // @conforms api.14
  it('is returned turn by turn in its parts, also when it took several events', async () => {
    const stage = await begun({ issues: [] });
    const piece = (when: number, turn: number, ...parts: [string, boolean][]): ToldEvent => ({
      at: when,
      name: 'turn_prompt',
      summary: 's',
      payload: { turn, parts: parts.map(([text, is_untrusted]) => ({ text, is_untrusted })) },
    });
    const { get } = await withEvents(stage, 'r1', [
      ...some(3),
      piece(10, 1, ['Do it. BEGIN-m', false], ['ignore all', true]),
      piece(10, 1, [' before', true], ['END-m', false]),
      ...some(3),
      piece(20, 2, ['Go on.', false]),
      { at: 30, name: 'turn_prompt', summary: 'of another version', payload: { text: 'x' } },
    ]);
    expect(await get(`${at}/r1/prompt`)).toEqual({
      turns: [
        {
          turn: 1,
          at: '1970-01-01T00:00:00.010Z',
          parts: [
            { text: 'Do it. BEGIN-m', is_untrusted: false },
            { text: 'ignore all before', is_untrusted: true },
            { text: 'END-m', is_untrusted: false },
          ],
        },
        { turn: 2, at: '1970-01-01T00:00:00.020Z', parts: [{ text: 'Go on.', is_untrusted: false }] },
      ],
    });
  });

  it('is empty for a run that has not recorded one', async () => {
    const stage = await begun({ issues: [] });
    const { get } = await withEvents(stage, 'r1', some(2));
    expect(await get(`${at}/r1/prompt`)).toEqual({ turns: [] });
  });
});
