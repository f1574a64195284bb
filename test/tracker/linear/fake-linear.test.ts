// @module-tag full
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { FakeAnswer } from '../../fake/linear/answer-request.ts';
import {
  createFakeLinearCore,
  type FakeLinear,
  type FakeLinearCore,
  type FakeLinearOptions,
  startFakeLinear,
} from '../../fake/linear/fake-linear.ts';
import { malformations, stuckCursor } from '../../fake/linear/faults.ts';
import { runs } from '../../property-runs.ts';

type Json = Record<string, unknown>;

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // GraphQL data of any shape; a test reads the parts that it requested.
  // biome-ignore lint/suspicious/noExplicitAny: the shape is the document's
  readonly data: any;
  readonly errors: readonly { readonly message: string; readonly extensions: Json }[];
}

/** A fake on a clock that moves only when a test moves it. */
function scene(options: Partial<FakeLinearOptions> = {}) {
  const time = { now: Date.parse('2026-01-01T00:00:00.000Z') };
  const core = createFakeLinearCore({ now: () => time.now, ...options });
  return { core, time, send: (query: string, variables: Json = {}) => send(core, query, variables) };
}

async function send(core: FakeLinearCore, query: string, variables: Json = {}, key = core.apiKey): Promise<Reply> {
  return reply(await core.handle(request(query, variables, key)));
}

function request(query: string, variables: Json, key: string) {
  return { method: 'POST', headers: { authorization: key }, body: JSON.stringify({ query, variables }) };
}

function reply({ status, headers, body }: FakeAnswer): Reply {
  const { data, errors = [] } = JSON.parse(body);
  return { status, headers, data, errors };
}

const listing = `query List($filter: IssueFilter, $first: Int, $after: String, $orderBy: PaginationOrderBy, $archived: Boolean) {
  issues(filter: $filter, first: $first, after: $after, orderBy: $orderBy, includeArchived: $archived) {
    nodes { identifier }
    pageInfo { hasNextPage endCursor }
  }
}`;

async function identifiers(core: FakeLinearCore, variables: Json = {}): Promise<readonly string[]> {
  const { data } = await send(core, listing, variables);
  return data.issues.nodes.map((node: { identifier: string }) => node.identifier);
}

/** All pages; `between` runs after each. */
async function walk(core: FakeLinearCore, variables: Json, between = () => {}): Promise<readonly string[]> {
  const found: string[] = [];
  for (let after: string | null = null; ; between()) {
    const { data } = await send(core, listing, { ...variables, after });
    found.push(...data.issues.nodes.map((node: { identifier: string }) => node.identifier));
    if (!data.issues.pageInfo.hasNextPage) return found;
    after = data.issues.pageInfo.endCursor;
  }
}

describe('actions of people', () => {
  test('an issue is found by id and by identifier, with all its fields', async () => {
    const { core, time, send } = scene();
    core.addUser({ id: 'u2', name: 'Other' });
    core.addIssue({ title: 'Blocker', state: 'In Progress' });
    core.addIssue({ id: 'i2', title: 'Two', priority: 2, assignee: 'Other', labels: ['a', 'b'], description: 'text' });
    core.relate('BAT-1', 'i2');
    time.now += 1000;
    core.updateIssue('BAT-2', { state: 'Done' });
    const parts = `id identifier title description priority branchName url createdAt updatedAt archivedAt trashed
      state { name type team { key } } project { slugId } assignee { id } labels { nodes { name } }
      relations { nodes { id } }
      inverseRelations { nodes { type issue { identifier state { name } } relatedIssue { id } } }`;
    const byId = await send(`{ issue(id: "i2") { ${parts} } }`);
    expect(byId.data.issue).toEqual({
      id: 'i2',
      identifier: 'BAT-2',
      title: 'Two',
      description: 'text',
      priority: 2,
      branchName: 'someone/bat-2-title',
      url: 'https://linear.app/acme/issue/BAT-2',
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:01.000Z',
      archivedAt: null,
      trashed: null,
      state: { name: 'Done', type: 'completed', team: { key: 'BAT' } },
      project: { slugId: 'baton' },
      assignee: { id: 'u2' },
      labels: { nodes: [{ name: 'b' }, { name: 'a' }] },
      relations: { nodes: [] },
      inverseRelations: {
        nodes: [
          {
            type: 'blocks',
            issue: { identifier: 'BAT-1', state: { name: 'In Progress' } },
            relatedIssue: { id: 'i2' },
          },
        ],
      },
    });
    expect((await send(`{ issue(id: "bat-2") { ${parts} } }`)).data).toEqual(byId.data);
    expect(core.complaints).toEqual([]);
  });

  test('a relation does not change the times of both issues, unless the test says otherwise', () => {
    const { core, time } = scene();
    const [one, two] = [core.addIssue(), core.addIssue()];
    const before = time.now;
    time.now += 1000;
    core.relate(one.id, two.id);
    expect([one.updatedAt, two.updatedAt]).toEqual([before, before]);
    core.unrelate(one.id, two.id, { touch: 'blocked' });
    expect([one.updatedAt, two.updatedAt]).toEqual([before, time.now]);
    expect(core.records.relations.size).toBe(0);
  });

  test('archived and trashed issues are in listings only on request, and are found alone; removed ones are gone', async () => {
    const { core, send } = scene();
    for (const name of ['archived', 'trashed', 'removed', 'there']) core.addIssue({ id: name });
    core.relate('removed', 'there');
    core.archive('archived');
    core.trash('trashed');
    core.remove('removed');
    expect(await identifiers(core)).toEqual(['BAT-4']);
    expect(await identifiers(core, { archived: true })).toEqual(['BAT-4', 'BAT-2', 'BAT-1']);
    expect((await send('{ issue(id: "trashed") { trashed archivedAt } }')).data.issue).toEqual({
      trashed: true,
      archivedAt: '2026-01-01T00:00:00.000Z',
    });
    const gone = await send('{ issue(id: "removed") { id } }');
    expect(gone).toMatchObject({ status: 200, data: null, errors: [{ message: 'Entity not found: Issue' }] });
    expect((await send('{ issue(id: "there") { inverseRelations { nodes { id } } } }')).data.issue).toEqual({
      inverseRelations: { nodes: [] },
    });
    core.restore('trashed');
    expect(await identifiers(core)).toEqual(['BAT-4', 'BAT-2']);
  });

  test('an issue can be moved and commented over the wire', async () => {
    const { core, time, send } = scene();
    core.addIssue({ id: 'i1' });
    const states = await send('{ workflowStates(filter: { team: { key: { eq: "BAT" } } }) { nodes { id name } } }');
    const done = states.data.workflowStates.nodes.find(({ name }: { name: string }) => name === 'Done').id;
    time.now += 1000;
    const change =
      'mutation($s: String) { issueUpdate(id: "i1", input: { stateId: $s }) { success issue { state { name } } } }';
    expect((await send(change, { s: done })).data.issueUpdate).toEqual({
      success: true,
      issue: { state: { name: 'Done' } },
    });
    expect(core.issue('i1').updatedAt).toBe(time.now);
    const comment =
      'mutation { commentCreate(input: { issueId: "BAT-1", body: "hello" }) { comment { user { isMe } } } }';
    expect((await send(comment)).data.commentCreate.comment.user.isMe).toBe(true);
    expect(core.stateOf('i1')).toBe('Done');
    expect(core.commentsOf('i1').map(({ body }) => body)).toEqual(['hello']);
  });

  test('a state of another team, or an unknown state, moves nothing', async () => {
    const { core, send } = scene();
    core.addIssue({ id: 'i1' });
    core.addTeam({ key: 'OTH', states: [{ id: 'foreign', name: 'Todo', type: 'unstarted' }] });
    for (const state of ['foreign', 'nobody']) {
      const answer = await send(`mutation { issueUpdate(id: "i1", input: { stateId: "${state}" }) { success } }`);
      expect(answer.errors[0]?.extensions.type).toBe('invalid input');
    }
    expect(core.stateOf('i1')).toBe('Todo');
  });
});

describe('listings', () => {
  test('are newest first, by creation or by change, fifty at a time', async () => {
    const { core, time } = scene();
    for (let count = 0; count < 51; count += 1) {
      time.now += 1;
      core.addIssue();
    }
    time.now += 1;
    core.updateIssue('BAT-7', { title: 'changed' });
    expect((await identifiers(core)).length).toBe(50);
    expect((await identifiers(core))[0]).toBe('BAT-51');
    expect((await identifiers(core, { orderBy: 'updatedAt' })).slice(0, 2)).toEqual(['BAT-7', 'BAT-51']);
  });

  test.each([0, 251])('refuse a page of %i as Linear does', async (first) => {
    const { send } = scene();
    const answer = await send(listing, { first });
    expect(answer).toMatchObject({ status: 200, data: null, errors: [{ extensions: { code: 'INVALID_INPUT' } }] });
  });

  // @conforms linear.26
  test('show every issue that exists all the time exactly once, whatever happens between the pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 7 }),
        fc.array(fc.constantFrom('add', 'update', 'remove'), { maxLength: 10 }),
        async (steps, first, happenings) => {
          const { core, time } = scene();
          for (const step of steps) {
            time.now += step;
            core.addIssue();
          }
          const there = [...core.records.issues.values()];
          const removed = new Set<string>();
          const found = await walk(core, { first }, () => {
            time.now += 1;
            const [oldest] = [...core.records.issues.values()];
            const happening = happenings.pop();
            if (happening === 'add') core.addIssue({ title: 'late' });
            if (happening === 'update' && oldest !== undefined) core.updateIssue(oldest.id, { title: 'changed' });
            if (happening === 'remove' && oldest !== undefined) {
              removed.add(oldest.identifier);
              core.remove(oldest.id);
            }
          });
          const stayed = there.map(({ identifier }) => identifier).filter((identifier) => !removed.has(identifier));
          expect(found.filter((identifier) => !removed.has(identifier))).toEqual(stayed.toReversed());
        },
      ),
      { numRuns: runs(60) },
    );
  });

  test('miss an issue that moves to the front while they are read by change', async () => {
    const { core, time } = scene();
    for (let count = 0; count < 4; count += 1) {
      time.now += 1;
      core.addIssue();
    }
    const found = await walk(core, { first: 2, orderBy: 'updatedAt' }, () => {
      time.now += 1;
      core.updateIssue('BAT-1', { title: 'changed' });
    });
    expect(found).toEqual(['BAT-4', 'BAT-3', 'BAT-2']);
  });

  test('start again at the front when the record of the cursor moved there, for cursors of that kind', async () => {
    const { core, time } = scene({ cursors: 'record' });
    for (let count = 0; count < 4; count += 1) {
      time.now += 1;
      core.addIssue();
    }
    let changes = 0;
    const found = await walk(core, { first: 2, orderBy: 'updatedAt' }, () => {
      if (changes > 0) return;
      changes += 1;
      time.now += 1;
      core.updateIssue('BAT-3', { title: 'changed' });
    });
    expect(found).toEqual(['BAT-4', 'BAT-3', 'BAT-4', 'BAT-2', 'BAT-1']);
  });

  test('inside an issue have pages too', async () => {
    const { core, send } = scene();
    core.addIssue({ labels: ['a', 'b', 'c'] });
    const page =
      'query($a: String) { issue(id: "BAT-1") { labels(first: 2, after: $a) { nodes { name } pageInfo { hasNextPage endCursor } } } }';
    const first = (await send(page)).data.issue.labels;
    expect(first.nodes).toEqual([{ name: 'c' }, { name: 'b' }]);
    const second = (await send(page, { a: first.pageInfo.endCursor })).data.issue.labels;
    expect(second).toMatchObject({ nodes: [{ name: 'a' }], pageInfo: { hasNextPage: false } });
  });
});

describe('filters', () => {
  const filtered = async (filter: Json) => {
    const { core, time } = scene();
    core.addUser({ id: 'u2', name: 'Other' });
    core.addProject({ slugId: 'second' });
    core.addIssue({ title: 'Été', state: 'Todo', labels: ['Bug'], assignee: 'Someone' });
    time.now += 86_400_000;
    core.addIssue({ title: 'winter', state: 'In Progress', labels: ['bug', 'ui'], assignee: 'Other', priority: 1 });
    core.addIssue({ title: 'Summer', state: 'Done', project: 'second' });
    core.addIssue({ title: 'alone', project: null, description: 'why' });
    core.relate('BAT-1', 'BAT-4');
    core.relate('BAT-3', 'BAT-2');
    time.now += 60_000;
    const found = await identifiers(core, { filter });
    expect(core.complaints).toEqual([]);
    return found.map((identifier) => Number(identifier.slice(4))).toReversed();
  };

  test.each<[Json, readonly number[]]>([
    [{}, [1, 2, 3, 4]],
    [{ project: { slugId: { eq: 'baton' } }, state: { name: { in: ['Todo', 'Done'] } } }, [1]],
    [{ state: { name: { in: ['todo'] } } }, []],
    [{ state: { name: { eqIgnoreCase: 'todo' } } }, [1, 4]],
    [{ or: [{ state: { name: { eqIgnoreCase: 'DONE' } } }, { title: { startsWith: 'win' } }] }, [2, 3]],
    [{ and: [{ state: { type: { neq: 'completed' } } }, { title: { notContains: 'e' } }] }, [1]],
    [{ state: { type: { nin: ['completed', 'unstarted'] } } }, [2]],
    [{ project: { null: true } }, [4]],
    [{ assignee: { isMe: { eq: true } } }, [1]],
    [{ assignee: { or: [{ null: true }, { id: { eq: 'u2' } }] } }, [2, 3, 4]],
    [{ labels: { name: { eq: 'bug' } } }, [2]],
    [{ labels: { some: { name: { eqIgnoreCase: 'BUG' } } } }, [1, 2]],
    [{ labels: { some: {}, every: { name: { containsIgnoreCase: 'BUG' } } } }, [1]],
    [{ labels: { length: { gte: 1, lt: 2 } } }, [1]],
    [{ title: { containsIgnoreCaseAndAccent: 'ete' } }, [1]],
    [{ title: { endsWith: 'er' }, priority: { gt: 0 } }, [2]],
    [{ description: { null: false } }, [4]],
    [{ createdAt: { gt: '2026-01-01T00:00:00.000Z' } }, [2, 3, 4]],
    [{ createdAt: { gte: '2026-01-01T00:00:00.000Z', lte: '2026-01-01T00:00:00.000Z' } }, [1]],
    [{ createdAt: { lt: '2026-01-02' } }, [1]],
    [{ updatedAt: { gt: '-PT1H30M' } }, [2, 3, 4]],
    [{ hasBlockedByRelations: { eq: true } }, [4]],
    [{ team: { key: { eq: 'BAT' } }, number: { in: [2, 3] } }, [2, 3]],
  ])('%j finds %j', async (filter, expected) => {
    expect(await filtered(filter)).toEqual(expected);
  });

  // @conforms linear.27
  test.each<[Json, string]>([
    [{ cycle: { number: { eq: 1 } } }, 'Issue.cycle'],
    [{ searchableContent: { contains: 'x' } }, 'Issue.searchableContent'],
    [{ assignee: { name: { neq: 'Someone' } } }, 'neq on something that is not set'],
    [{ title: null }, 'null as title'],
    [{ or: [] }, 'an empty and or or'],
    [{ createdAt: { gt: '-P1M' } }, 'the duration -P1M'],
  ])('%j is refused with an error, not ignored', async (filter, told) => {
    const { core } = scene();
    core.addIssue();
    const answer = await core.handle(request(listing, { filter }, core.apiKey));
    expect([answer.status, answer.body]).toEqual([501, expect.stringContaining(told)]);
    expect(core.complaints).toEqual([expect.stringContaining(told)]);
  });

  test('match a second implementation of the same rules', async () => {
    const leaf = fc.oneof(
      fc.record({ title: fc.record({ in: fc.subarray(['a', 'b', 'c']) }) }),
      fc.record({ priority: fc.record({ gte: fc.integer({ min: 0, max: 4 }) }) }),
      fc.record({ state: fc.record({ name: fc.record({ neq: fc.constantFrom('Todo', 'Done') }) }) }),
    );
    const { filter } = fc.letrec<{ filter: Json }>((tie) => ({
      filter: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.record({ and: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ or: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
      ),
    }));
    const holds = (rule: Json, issue: { title: string; priority: number; state: string }): boolean => {
      if ('and' in rule) return (rule.and as Json[]).every((each) => holds(each, issue));
      if ('or' in rule) return (rule.or as Json[]).some((each) => holds(each, issue));
      if ('title' in rule) return (rule.title as { in: string[] }).in.includes(issue.title);
      if ('priority' in rule) return issue.priority >= (rule.priority as { gte: number }).gte;
      return issue.state !== (rule.state as { name: { neq: string } }).name.neq;
    };
    const drawn = fc.record({
      title: fc.constantFrom('a', 'b', 'c'),
      priority: fc.integer({ min: 0, max: 4 }),
      state: fc.constantFrom('Todo', 'Done', 'Backlog'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(drawn, { maxLength: 10 }), filter, async (issues, rule) => {
        const { core } = scene();
        for (const each of issues) core.addIssue(each);
        const expected = issues.flatMap((each, at) => (holds(rule, each) ? [`BAT-${at + 1}`] : [])).toReversed();
        expect(await identifiers(core, { filter: rule })).toEqual(expected);
      }),
      { numRuns: runs(100) },
    );
  });
});

describe('requests that Linear refuses', () => {
  test.each([
    ['no key', '', 401, 'AUTHENTICATION_ERROR'],
    ['a wrong key', 'lin_api_other', 401, 'AUTHENTICATION_ERROR'],
    ['a token without Bearer', 'lin_oauth_fake', 401, 'AUTHENTICATION_ERROR'],
    ['a personal key behind Bearer', 'Bearer lin_api_fake', 400, 'INPUT_ERROR'],
  ])('%s', async (_, key, status, code) => {
    const { core } = scene();
    const answer = await send(core, '{ viewer { id } }', {}, key);
    expect(answer).toMatchObject({ status, errors: [{ extensions: { code } }] });
  });

  test.each(['lin_api_fake', 'Bearer lin_oauth_fake'])('are not those with the key %s', async (key) => {
    const { core } = scene();
    expect((await send(core, '{ viewer { name } }', {}, key)).data).toEqual({ viewer: { name: 'Someone' } });
  });

  test.each([
    ['an unknown field', '{ viewer { shoeSize } }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    ['broken GraphQL', '{ viewer {', {}, 'GRAPHQL_PARSE_FAILED'],
    ['variables that do not fit', listing, { first: 'many' }, 'BAD_USER_INPUT'],
  ])('%s', async (_, query, variables, code) => {
    const { send } = scene();
    const answer = await send(query, variables);
    expect(answer).toMatchObject({ status: 400, errors: [{ extensions: { code } }] });
    expect(answer.data).toBeUndefined();
  });

  test('for a field that the fake does not know fail the test and are recorded', async () => {
    const { core } = scene();
    core.addIssue();
    const answer = await core.handle(request('{ issue(id: "BAT-1") { id cycle { id } } }', {}, core.apiKey));
    expect(answer.status).toBe(501);
    expect(core.complaints).toEqual(['The fake Linear does not model Issue.cycle.']);
  });

  test.each([
    ['{ viewer { id name email displayName } }', 2],
    ['{ issues(first: 10) { nodes { id } } }', 11],
    ['{ issues { nodes { id state { name } } } }', 110],
    ['{ viewer { id } issues @include(if: false) { nodes { id } } teams @skip(if: false) { nodes { id } } }', 57],
    ['query { issues(first: 2) { nodes { id ...L } } } fragment L on Issue { labels(first: 3) { nodes { name } } }', 9],
    // Linear counts the possible result: here 50 teams with four listings of 50 each.
    [
      `{ teams { nodes { id key name
        a: states(first: 50) { nodes { id name type position } } b: states(first: 50) { nodes { id name } }
        c: states(first: 50) { nodes { id name type position } } d: states(first: 50) { nodes { id name type } } } } }`,
      13_315,
    ],
  ])('%s costs %i points', async (query, points) => {
    const { core, send } = scene();
    core.limits.complexityPerRequest = 20_000;
    expect((await send(query)).headers['x-complexity']).toBe(String(points));
  });

  test('of more than 10,000 points spend nothing', async () => {
    const { send } = scene();
    const answer = await send('{ issues(first: 250) { nodes { labels { nodes { name } } } } }');
    expect(answer).toMatchObject({ status: 400, errors: [{ message: 'Query too complex' }] });
    expect((await send('{ viewer { id } }')).headers['x-ratelimit-requests-remaining']).toBe('2499');
  });

  test('beyond the budget are refused until the announced time, not longer', async () => {
    const { core, time, send } = scene();
    core.limits.requestsPerWindow = 2;
    const begin = time.now;
    expect((await send('{ viewer { id } }')).headers).toMatchObject({
      'x-ratelimit-requests-limit': '2',
      'x-ratelimit-requests-remaining': '1',
      'x-ratelimit-requests-reset': String(begin + 3_600_000),
    });
    await send('{ viewer { id } }');
    time.now = begin + 3_599_999;
    const refused = await send('{ viewer { id } }');
    expect(refused).toMatchObject({ status: 400, errors: [{ extensions: { code: 'RATELIMITED', statusCode: 429 } }] });
    expect(refused.headers['x-ratelimit-requests-remaining']).toBe('0');
    time.now = begin + 3_600_000;
    expect((await send('{ viewer { id } }')).status).toBe(200);
  });

  test('beyond the complexity budget are refused too, and a window can be exhausted by hand', async () => {
    const { core, time, send } = scene();
    core.limits.complexityPerWindow = 3;
    expect((await send('{ viewer { id name } }')).headers['x-ratelimit-complexity-remaining']).toBe('1');
    expect((await send('{ viewer { id name } }')).errors[0]?.extensions.code).toBe('RATELIMITED');
    core.limits.exhaust(time.now + 5000);
    expect((await send('{ viewer { id } }')).headers['x-ratelimit-requests-reset']).toBe(String(time.now + 5000));
    time.now += 5000;
    expect((await send('{ viewer { id } }')).status).toBe(200);
  });
});

describe('faults', () => {
  test('apply once, always, or to one operation only, and can be removed', async () => {
    const { core, send } = scene();
    core.faults.next.push({ kind: 'status', status: 502, body: '{}' }, { kind: 'status', status: 503, body: '{}' });
    core.faults.always = { kind: 'status', status: 500, body: '{}', operation: 'Bad' };
    const statuses = [];
    for (const query of [
      '{ viewer { id } }',
      '{ viewer { id } }',
      'query Good { viewer { id } }',
      'query Bad { viewer { id } }',
    ]) {
      statuses.push((await send(query)).status);
    }
    expect(statuses).toEqual([502, 503, 200, 500]);
    core.faults.clear();
    expect((await send('query Bad { viewer { id } }')).status).toBe(200);
    expect(core.requests.map(({ status }) => status)).toEqual([502, 503, 200, 500, 200]);
    expect(core.counts()).toEqual({ '': 2, Good: 1, Bad: 2 });
  });

  test('apply to a chosen page', async () => {
    const { core } = scene();
    for (let count = 0; count < 5; count += 1) core.addIssue();
    core.faults.page = { field: 'issues', page: 2, fault: { kind: 'status', status: 500, body: '{}' } };
    expect(await identifiers(core, { first: 2 })).toEqual(['BAT-5', 'BAT-4']);
    await expect(walk(core, { first: 2 })).rejects.toThrow();
    expect(core.requests.map(({ status }) => status)).toEqual([200, 200, 500]);
  });

  test('let a test change the world between two pages', async () => {
    const { core } = scene();
    for (let count = 0; count < 3; count += 1) core.addIssue();
    const calls: [string, number][] = [];
    core.faults.betweenPages = async (field, page) => {
      await Promise.resolve();
      calls.push([field, page]);
      core.remove('BAT-2');
    };
    expect(await walk(core, { first: 1 })).toEqual(['BAT-3', 'BAT-1']);
    expect(calls).toEqual([['issues', 2]]);
  });

  test('do not hide a broken callback behind an answer of Linear', async () => {
    const { core } = scene();
    for (let count = 0; count < 2; count += 1) core.addIssue();
    for (const betweenPages of [() => core.remove('nobody'), async () => core.remove('nobody')]) {
      core.faults.betweenPages = betweenPages;
      await expect(walk(core, { first: 1 })).rejects.toThrow();
    }
    expect(core.requests.map(({ status }) => status)).toEqual([200, 501, 200, 501]);
    expect(core.complaints).toEqual(Array(2).fill('There is no issue nobody in the fake Linear.'));
  });

  test('send malformed records for chosen issues, in every answer', async () => {
    const { core, send } = scene();
    const names = ['nullTitle', 'withoutState', 'wrongTypes', 'nullNode'] as const;
    for (const name of names) core.faults.malformed.set(core.addIssue({ id: name }).id, malformations[name]);
    core.addIssue({ id: 'whole' });
    const parts = 'id title state { name } labels { nodes { name } }';
    const { data, errors } = await send(
      `{ all: issues { nodes { ${parts} } } one: issue(id: "nullTitle") { ${parts} } }`,
    );
    expect(errors).toEqual([]);
    const state = { name: 'Todo' };
    const labels = { nodes: [] };
    expect(data.all.nodes).toEqual([
      { id: 'whole', title: 'Title of BAT-5', state, labels },
      null,
      { id: 'wrongTypes', title: 7, state, labels: 'none', createdAt: true, priority: 'high' },
      { id: 'withoutState', title: 'Title of BAT-2', labels },
      { id: 'nullTitle', title: null, state, labels },
    ]);
    expect(data.one).toEqual({ id: 'nullTitle', title: null, state, labels });
  });

  test('announce more pages without a cursor, or with the same cursor again and again', async () => {
    const { core, send } = scene();
    core.addIssue();
    core.faults.endCursor.set('issues', 'missing');
    expect((await send(listing)).data.issues.pageInfo).toEqual({ hasNextPage: true, endCursor: null });
    core.faults.endCursor.set('issues', 'stuck');
    const page = { nodes: [{ identifier: 'BAT-1' }], pageInfo: { hasNextPage: true, endCursor: stuckCursor } };
    expect((await send(listing)).data.issues).toEqual(page);
    expect((await send(listing, { after: stuckCursor })).data.issues).toEqual(page);
  });

  test('put errors next to data or in its place', async () => {
    const { core, send } = scene();
    core.faults.next.push(
      { kind: 'graphql_errors', data: 'whole' },
      { kind: 'graphql_errors', data: 'null', code: 'X' },
    );
    expect(await send('{ viewer { name } }')).toMatchObject({
      status: 200,
      data: { viewer: { name: 'Someone' } },
      errors: [{ extensions: { type: 'internal error' } }],
    });
    expect(await send('{ viewer { name } }')).toMatchObject({ data: null, errors: [{ extensions: { code: 'X' } }] });
  });

  test('limit the rate now, with or without a reset time', async () => {
    const { core, time, send } = scene();
    core.faults.next.push(
      { kind: 'rate_limit' },
      { kind: 'rate_limit', resetAt: time.now + 9000 },
      { kind: 'rate_limit', status: 429, retryAfterSeconds: 7 },
    );
    const answers = [await send('{ viewer { id } }'), await send('{ viewer { id } }'), await send('{ viewer { id } }')];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 429]);
    expect(answers.map(({ errors }) => errors[0]?.extensions.code)).toEqual(Array(3).fill('RATELIMITED'));
    expect(answers.map(({ headers }) => headers['x-ratelimit-requests-reset'])).toEqual([
      undefined,
      String(time.now + 9000),
      undefined,
    ]);
    expect(answers.map(({ headers }) => headers['retry-after'])).toEqual([undefined, undefined, '7']);
  });

  test('delay answers by the given clock', async () => {
    const waits: number[] = [];
    const { core, send } = scene({ wait: async (ms) => void waits.push(ms) });
    await send('{ viewer { id } }');
    core.faults.latencyMs = 250;
    await send('{ viewer { id } }');
    expect(waits).toEqual([250]);
  });

  test('refuse everything while down, and nothing arrives', async () => {
    const { core } = scene();
    core.faults.down = true;
    expect(await core.handle(request('{ viewer { id } }', {}, core.apiKey))).toMatchObject({ cut: 'refused' });
    expect(core.requests).toEqual([]);
  });
});

test('do not put the key into the log, which has operation, variables and headers', async () => {
  const { core, time } = scene();
  const { body } = request(listing, { first: 3 }, '');
  await core.handle({ method: 'POST', headers: { authorization: core.apiKey, 'x-mark': 'm' }, body });
  expect(core.requests).toEqual([
    {
      at: time.now,
      operation: 'List',
      document: listing,
      variables: { first: 3 },
      headers: { 'x-mark': 'm' },
      status: 200,
      complexity: expect.closeTo(4.5),
    },
  ]);
  expect(JSON.stringify(core.requests)).not.toContain(core.apiKey);
  core.forgetRequests();
  expect(core.requests).toEqual([]);
});

describe('over HTTP', () => {
  let linear: FakeLinear | null = null;
  afterEach(async () => {
    await linear?.[Symbol.asyncDispose]();
    linear = null;
  });
  const post = async (fake: FakeLinear) => {
    const headers = { authorization: fake.apiKey, 'content-type': 'application/json' };
    const response = await fetch(fake.url, { method: 'POST', headers, body: '{"query":"{ viewer { name } }"}' });
    return {
      status: response.status,
      limit: response.headers.get('X-RateLimit-Requests-Limit'),
      body: await response.text(),
    };
  };

  test('the fake answers the same, with its headers', async () => {
    linear = await startFakeLinear();
    expect(await post(linear)).toEqual({ status: 200, limit: '2500', body: '{"data":{"viewer":{"name":"Someone"}}}' });
    expect(linear.requests[0]?.headers['content-type']).toBe('application/json');
  });

  test('the fake cuts connections before the head and in the middle of a body', async () => {
    linear = await startFakeLinear();
    linear.faults.next.push({ kind: 'cut', where: 'before_head' }, { kind: 'cut', where: 'in_body' });
    await expect(post(linear)).rejects.toThrow();
    await expect(post(linear)).rejects.toThrow();
    expect(linear.requests.length).toBe(2);
    expect((await post(linear)).status).toBe(200);
  });

  test('the fake sends garbage unchanged', async () => {
    linear = await startFakeLinear();
    linear.faults.next.push({ kind: 'garbage', body: '\u0000<html>' });
    expect((await post(linear)).body).toBe('\u0000<html>');
  });

  test('the fake goes down and comes back at the same address with its data', async () => {
    linear = await startFakeLinear();
    linear.addIssue({ id: 'kept' });
    await post(linear);
    await linear.goDown();
    await expect(post(linear)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    await linear.comeBack();
    expect((await post(linear)).status).toBe(200);
    expect(linear.issue('kept').identifier).toBe('BAT-1');
    expect(linear.requests.length).toBe(2);
  });

  test('the fake keeps a client waiting as long as configured, and can be stopped meanwhile', async () => {
    linear = await startFakeLinear();
    linear.faults.latencyMs = 600_000;
    const answer = post(linear).then(
      () => 'answered',
      () => 'cut',
    );
    await vi.waitFor(() => expect(linear?.requests[0]).toMatchObject({ status: null }));
    await linear.goDown();
    expect(await answer).toBe('cut');
  });
});
