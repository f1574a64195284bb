import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  causesIn,
  isOfOtherDaemon,
  type NeedsYouFact,
  type NotifyFacts,
  type ProblemSightings,
  problemSightings,
  steadyMs,
} from '../../../src/core/notify/notify-cause.ts';
import { anyCharacter } from '../../any-character.ts';

const at = Date.UTC(2026, 0, 2, 3);
const issue = { id: 'i1', identifier: 'BAT-1', title: 'Mend the door', url: null };

const needs = (kind: NeedsYouFact['kind'], over: Partial<NeedsYouFact> = {}): NeedsYouFact => ({
  kind,
  key: `${kind}:i1`,
  code: kind,
  reason: 'why',
  since: 5,
  issue,
  runId: null,
  questionId: null,
  repeats: null,
  actions: [],
  ...over,
});
const given = (over: Partial<NotifyFacts> = {}): NotifyFacts => ({
  at,
  isComplete: true,
  needsYou: [],
  finished: [],
  ...over,
});
const causesAt = (facts: NotifyFacts, now = facts.at, problems: ProblemSightings = new Map(), daemon = 'd') =>
  causesIn(facts, { at: now, problems, daemon });
const found = (over: Partial<NotifyFacts>) => causesAt(given(over));
const keysOf = (over: Partial<NotifyFacts>) => found(over).map(({ key, event, nature }) => [event, nature, key]);

describe('the causes of notifications', () => {
  it.each<[NeedsYouFact, string, string, string]>([
    [needs('question', { questionId: 'q1' }), 'needs_you', 'lasting', 'question:q1'],
    [needs('held'), 'held', 'lasting', 'held:i1:5'],
    [needs('limit', { code: 'limit_reached' }), 'limit_reached', 'lasting', 'limit:limit_reached:i1:5'],
    [needs('review'), 'needs_you', 'recurring', 'review:i1'],
    [
      needs('account', { key: 'account:codex/work', issue: null }),
      'needs_you',
      'recurring',
      'account:account%3Acodex%2Fwork',
    ],
    [needs('held', { since: null }), 'held', 'recurring', 'held:i1'],
    [needs('held', { issue: { ...issue, id: 'a:b/ü\uD800' } }), 'held', 'lasting', 'held:a%3Ab%2F%C3%BC%EF%BF%BD:5'],
  ])('have a key that stays the same while the cause lasts (%#)', (fact, event, nature, key) => {
    expect(keysOf({ needsYou: [fact] })).toEqual([[event, nature, key]]);
  });

  it('report a question once, also when its issue is held with it', () => {
    const question = needs('question', { questionId: 'q1' });
    const held = needs('held', { questionId: 'q1', since: 99 });
    expect(keysOf({ needsYou: [question, held] })).toEqual([['needs_you', 'lasting', 'question:q1']]);
    expect(keysOf({ needsYou: [held] })).toEqual([['held', 'lasting', 'question:q1']]);
  });

  it('report a question once that a later run repeats, with the id that can be answered', () => {
    const actions = ['question_answer'];
    const again = needs('question', { questionId: 'q3', repeats: 'q1', actions });
    expect(keysOf({ needsYou: [again] })).toEqual([['needs_you', 'lasting', 'question:q1']]);
    expect(found({ needsYou: [again] })[0]?.actions).toEqual(['baton ask show q3']);
  });

  it('report a limit of the day once for each day and each allowance', () => {
    const limit = (key: string) => needs('limit', { key, code: 'tokens_per_day', issue: null, actions: ['resume'] });
    const one = limit('limit:tokens_per_day:2026-01-02:0');
    const [cause] = found({ needsYou: [one] });
    expect(cause).toMatchObject({ event: 'limit_reached', nature: 'lasting', issue: null, code: 'tokens_per_day' });
    expect(cause?.actions).toEqual(['baton resume']);
    const others = [limit('limit:tokens_per_day:2026-01-02:700'), limit('limit:tokens_per_day:2026-01-03:0')];
    expect(keysOf({ needsYou: [one, one, ...others] })).toHaveLength(3);
  });

  it('drop a limit of the day when its day has ended', () => {
    const limit = needs('limit', { key: 'limit:tokens_per_day:2026-01-02:0', issue: null, since: null });
    const ofIssue = needs('limit', { code: 'limit_reached' });
    const taken = given({ at: Date.UTC(2026, 0, 2, 23, 59), needsYou: [limit, ofIssue] });
    const events = (now: number) => causesAt(taken, now).map(({ issue: about }) => about?.id ?? 'day');
    expect(events(Date.UTC(2026, 0, 3) - 1)).toEqual(['day', 'i1']);
    expect(events(Date.UTC(2026, 0, 3))).toEqual(['i1']);
    expect(events(Date.UTC(2026, 0, 1, 23, 59))).toEqual(['i1']);
  });

  it('leave out actions of the person themselves', () => {
    const byPerson = [needs('held', { code: 'person' }), needs('held', { code: 'taken_over' })];
    expect(keysOf({ needsYou: byPerson })).toEqual([]);
    expect(keysOf({ needsYou: [needs('held', { code: 'agent_survives' })] })).toHaveLength(1);
    expect(keysOf({ needsYou: [needs('review', { code: 'person' })] })).toHaveLength(1);
  });

  // @conforms notify.21
  it.each<[string | null, string | null]>([
    ['https://t.example/SHOP-7?a=b#c', 'https://t.example/SHOP-7?a=b#c'],
    ['HTTP://127.0.0.1:80/ü', 'HTTP://127.0.0.1:80/ü'],
    ['javascript:alert(1)', null],
    [' javascript:alert(1)', null],
    ['data:text/html,x', null],
    ['https:evil', null],
    ['https://', null],
    ['https://a b/', null],
    ['https://t.example/\nBcc: x', null],
    ['https://t.example/\u202Egpj', null],
    ['file:///etc/passwd', null],
    ['', null],
    [null, null],
  ])('have the address of an issue only where a browser can open it: %j', (url, given) => {
    const [hold, finished] = [
      needs('held', { issue: { ...issue, url } }),
      { issue: { ...issue, url }, state: 'Done', at },
    ];
    expect(found({ needsYou: [hold], finished: [finished] }).map((each) => each.issue?.url)).toEqual([given, given]);
  });

  it('include an issue that finished now, and not one that finished long ago', () => {
    const finished = (ago: number) => ({ issue, state: 'Done', at: at - ago });
    expect(keysOf({ finished: [finished(0)] })).toEqual([['finished', 'happening', `finished:i1:Done:${at}`]]);
    expect(keysOf({ finished: [finished(3_600_000)] })).toHaveLength(1);
    expect(keysOf({ finished: [finished(3_600_001)] })).toEqual([]);
  });

  it('turn any text into one harmless line of limited length', () => {
    const title = '\u001b[31mred\u001b[0m\r\nnext\u202Eline\0';
    const [cause] = found({ needsYou: [needs('held', { reason: 'x'.repeat(5_000), issue: { ...issue, title } })] });
    expect(cause?.issue?.title).toBe('␛[31mred␛[0m next⟦U+202E⟧line␀');
    expect(cause?.reason).toHaveLength(1_001);
  });

  it('list the commands that a person can give, quoted for a shell', () => {
    const kinds = ['question_answer', 'issue_retry', 'issue_takeover', 'issue_stop', 'issue_release', 'issue_handback'];
    const odd = { ...issue, identifier: "$(rm -rf /)'" };
    const lines = (fact: Partial<NeedsYouFact>) => found({ needsYou: [needs('held', fact)] })[0]?.actions;
    expect(lines({ actions: [...kinds, 'issue_steer', 'issue_move', '__proto__'], questionId: 'q1' })).toEqual([
      'baton ask show q1',
      'baton issue retry BAT-1',
      'baton takeover BAT-1',
      'baton issue stop BAT-1',
      'baton issue release BAT-1',
      'baton handback BAT-1',
    ]);
    expect(lines({ actions: ['issue_retry', 'question_answer'], issue: odd })).toEqual([
      `baton issue retry '$(rm -rf /)'"'"''`,
      `baton ask show '$(rm -rf /)'"'"''`,
    ]);
    expect(lines({ actions: ['issue_retry', 'resume'], issue: null })).toEqual(['baton resume']);
  });
});

describe('a problem of the daemon', () => {
  const trouble = (code: string) => needs('daemon', { code, issue: null, since: null });
  const told = (sightings: ReadonlyMap<string, number>, over: Partial<NotifyFacts>) =>
    causesAt(given(over), over.at ?? at, sightings).map(({ key }) => key);

  it('is reported after it has lasted for a minute without a gap', () => {
    const first = given({ needsYou: [trouble('no_headroom')] });
    let sightings = problemSightings(new Map(), first, at);
    expect(told(sightings, first)).toEqual([]);
    sightings = problemSightings(sightings, first, at + steadyMs);
    expect(told(sightings, { ...first, at: at + steadyMs })).toEqual(['unhealthy:d:no_headroom']);
    sightings = problemSightings(sightings, given(), at + steadyMs + 1);
    sightings = problemSightings(sightings, first, at + steadyMs + 2);
    expect(told(sightings, { ...first, at: at + steadyMs + 2 })).toEqual([]);
  });

  it('is not delayed by a clock that is set back', () => {
    const later = problemSightings(new Map(), given({ needsYou: [trouble('x')] }), at);
    const back = at - 86_400_000;
    const sightings = problemSightings(later, given({ needsYou: [trouble('x')] }), back);
    expect(told(sightings, { at: back + steadyMs, needsYou: [trouble('x')] })).toHaveLength(1);
  });

  it('belongs to its daemon, by the full name', () => {
    expect(isOfOtherDaemon('unhealthy:d:no_headroom', 'd')).toBe(false);
    expect(isOfOtherDaemon('unhealthy:d2:no_headroom', 'd')).toBe(true);
    expect(isOfOtherDaemon('held:i1:5', 'd')).toBe(false);
    const [cause] = causesAt(given({ needsYou: [trouble('c')] }), at, new Map([['c', 0]]), 'd:1');
    expect(isOfOtherDaemon(cause?.key ?? '', 'd:1')).toBe(false);
    expect(isOfOtherDaemon(cause?.key ?? '', 'd')).toBe(true);
  });
});

const anyFact = fc.record({
  kind: fc.constantFrom<NeedsYouFact['kind'][]>('question', 'held', 'limit', 'review', 'account', 'daemon'),
  key: fc.string(),
  code: fc.string({ unit: anyCharacter }),
  reason: fc.string({ unit: anyCharacter }),
  since: fc.option(fc.integer()),
  issue: fc.option(
    fc.record({
      id: fc.string({ unit: anyCharacter }),
      identifier: fc.string(),
      title: fc.option(fc.string()),
      url: fc.option(fc.string()),
    }),
  ),
  runId: fc.option(fc.string()),
  questionId: fc.option(fc.string({ unit: anyCharacter })),
  repeats: fc.option(fc.string({ unit: anyCharacter })),
  actions: fc.array(fc.string()),
});

describe('any set of facts', () => {
  it('gives each key once, the same at every reading, and never throws', () => {
    fc.assert(
      fc.property(fc.array(anyFact), fc.nat(), (needsYou, laterMs) => {
        const sightings = new Map(needsYou.map(({ code }) => [code, 0]));
        const now = causesAt(given({ needsYou }), at, sightings).map(({ key }) => key);
        const later = causesAt(given({ needsYou, at: at + laterMs }), at + laterMs, sightings).map(({ key }) => key);
        expect(new Set(now).size).toBe(now.length);
        expect(later).toEqual(now);
      }),
    );
  });

  it('gives different issues different keys', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.integer(), fc.integer(), (one, other, since, too) => {
        fc.pre(one !== other || since !== too);
        const held = (id: string, from: number) => needs('held', { issue: { ...issue, id }, since: from });
        expect(keysOf({ needsYou: [held(one, since), held(other, too)] })).toHaveLength(2);
      }),
    );
  });
});
