import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import type { Issue } from '../../../src/core/issue/issue.ts';
import { Secret } from '../../../src/core/text/secret.ts';
import type { Fault } from '../../fake/linear/faults.ts';
import { malformations } from '../../fake/linear/faults.ts';
import { linearScene } from './linear-scene.ts';

const ids = (issues: readonly { readonly id: string }[]): string[] => issues.map(({ id }) => id);

// @conforms tools.8
it('names the author in every read, and after a move', async () => {
  const { linear, tracker, poll } = linearScene();
  const { id: user } = linear.addUser({ name: 'Ann Other' });
  const mine = linear.addIssue().id;
  const hers = linear.addIssue({ creator: 'Ann Other' }).id;
  const robots = linear.addIssue({ creator: null, botActor: 'slack' }).id;
  const authorOf = (issues: readonly (Issue | null | undefined)[], id: string) =>
    issues.find((issue) => issue?.id === id)?.authorNames;
  const inOrder = { states: ['Todo'], watched: [mine, hers, robots] };
  const reads: readonly (readonly (Issue | null | undefined)[])[] = [
    await tracker.fetchByStates(['Todo']),
    await tracker.fetchByIds([mine, hers, robots]),
    (await poll(inOrder)).issues,
    [...(await poll(inOrder)).watched.values()],
    [
      await tracker.changes?.moveIssue(mine, 'Done', { kind: 'run', runId: 'r' }),
      await tracker.changes?.moveIssue(hers, 'Done', { kind: 'run', runId: 'r' }),
    ],
  ];
  for (const issues of reads) {
    expect(authorOf(issues, mine)).toEqual([linear.records.viewerId, 'someone@example.com']);
    expect(authorOf(issues, hers)).toEqual([user, 'ann.other@example.com']);
    expect(authorOf(issues, robots)).toBeUndefined();
  }
  expect(linear.complaints).toEqual([]);
});

describe('open issues', () => {
  // @conforms intake.4
  it('are those of the project in every state that is not over, by Linear or by the workflow file', async () => {
    const { linear, tracker } = linearScene();
    const openStates = [
      { name: 'Todo', type: 'unstarted' },
      { name: 'Closed', type: 'started' },
    ] as const;
    linear.addTeam({ key: 'OPS', states: [...openStates] });
    linear.addProject({ slugId: 'other' });
    for (const state of ['Backlog', 'Todo', 'In Progress', 'In Review', 'Done', 'Canceled', 'Duplicate'])
      linear.addIssue({ title: state, state });
    linear.addIssue({ title: 'Closed', state: 'Closed', team: 'OPS' });
    linear.addIssue({ title: 'Elsewhere', project: 'other' });
    linear.archive(linear.addIssue({ title: 'Archived' }).id);
    const open = (await tracker.fetchOpen?.()) ?? [];
    expect(open.map(({ title }) => title).toSorted()).toEqual(['Backlog', 'In Progress', 'In Review', 'Todo']);
    expect(open.map(({ identifier }) => identifier)).toEqual(Array(4).fill(expect.stringMatching(/^BAT-\d+$/)));
    expect(linear.complaints).toEqual([]);
  });
});

describe('candidates', () => {
  // @conforms L5
  it('come page by page in the order of Linear, each once', async () => {
    const { linear, tracker } = linearScene();
    const added = Array.from({ length: 103 }, (_, index) => linear.addIssue({ createdAt: index }).id);
    expect(ids(await tracker.fetchByStates(['Todo']))).toEqual(added.toReversed());
    expect(linear.requests.map(({ variables }) => variables.first)).toEqual([50, 50, 50]);
    expect(linear.complaints).toEqual([]);
  });

  it('are those of the project and of the states, compared without case', async () => {
    const { linear, tracker } = linearScene();
    linear.addProject({ slugId: 'other' });
    const todo = linear.addIssue().id;
    const review = linear.addIssue({ state: 'In Review' }).id;
    linear.addIssue({ state: 'Done' });
    linear.addIssue({ project: 'other' });
    linear.addIssue({ project: null });
    linear.archive(linear.addIssue().id);
    linear.trash(linear.addIssue().id);
    expect(ids(await tracker.fetchByStates(['TODO', ' in review ', 'todo', 'Nirvana']))).toEqual([review, todo]);
  });

  it('on two pages appear once, with the last record', async () => {
    const { linear, tracker } = linearScene();
    const added = Array.from({ length: 60 }, (_, index) => linear.addIssue({ createdAt: 1_000 + index }));
    linear.faults.betweenPages = () => {
      linear.faults.betweenPages = null;
      const issue = linear.updateIssue(added[59]?.id ?? '', { title: 'Later' });
      Object.assign(issue, { createdAt: 0 });
    };
    const found = await tracker.fetchByStates(['Todo']);
    expect(new Set(ids(found)).size).toBe(60);
    expect(found).toHaveLength(60);
    expect(found.filter(({ title }) => title === 'Later')).toHaveLength(1);
  });

  // @conforms linear.1
  it('have all labels and relations, with further requests only for issues that have more', async () => {
    const { linear, tracker, operationsOf } = linearScene();
    const names = Array.from({ length: 320 }, (_, index) => `label-${index}`);
    const plain = linear.addIssue({ labels: names.slice(0, 9) });
    const labelled = linear.addIssue({ labels: names.slice(0, 30) });
    const full = linear.addIssue({ labels: names });
    const blocked = linear.addIssue();
    const blockers = Array.from({ length: 300 }, () => linear.addIssue({ state: 'Done' }).id);
    for (const blocker of blockers) linear.relate(blocker, blocked.id);
    let found: Awaited<ReturnType<typeof tracker.fetchByStates>> = [];
    const operations = await operationsOf(async () => {
      found = await tracker.fetchByStates(['Todo']);
    });
    const by = new Map(found.map((issue) => [issue.id, issue]));
    expect(by.get(plain.id)?.labels).toHaveLength(9);
    expect(by.get(labelled.id)?.labels.toSorted()).toEqual(names.slice(0, 30).toSorted());
    expect(by.get(full.id)?.labels.toSorted()).toEqual(names.toSorted());
    expect(
      by
        .get(blocked.id)
        ?.blockedBy.map(({ id }) => id)
        .toSorted(),
    ).toEqual(blockers.toSorted());
    expect(operations.toSorted()).toEqual([
      'BatonCandidates',
      ...['BatonIssueLabels', 'BatonIssueLabels', 'BatonIssueRelations', 'BatonIssueRelations'],
      'BatonIssuesById',
    ]);
  });

  it('with malformed records are left out and counted in one warning', async () => {
    const { linear, tracker, logger } = linearScene();
    const added = Array.from({ length: 6 }, () => linear.addIssue().id);
    for (const [index, malformation] of Object.values(malformations).entries()) {
      linear.faults.malformed.set(added[index] ?? '', malformation);
    }
    expect(ids(await tracker.fetchByStates(['Todo'])).toSorted()).toEqual(added.slice(4).toSorted());
    expect(logger.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { event: 'tracker_records_dropped', fields: { count: 4 } },
    ]);
  });

  it.each([
    // @conforms spec-11
    ['a next page without its place', 'missing', 'linear_missing_end_cursor', 1],
    ['a page that leads back', 'stuck', 'linear_repeated_cursor', 2],
  ] as const)('fail with %s', async (_what, fault, code, requests) => {
    const { linear, tracker } = linearScene();
    for (let count = 0; count < 120; count += 1) linear.addIssue();
    linear.faults.endCursor.set('issues', fault);
    await expect(tracker.fetchByStates(['Todo'])).rejects.toMatchObject({
      code: 'tracker_pagination',
      details: { provider_code: code },
    });
    expect(linear.requests).toHaveLength(requests);
  });

  it('fail as a whole when a page in the middle fails, and no request is repeated', async () => {
    const { linear, tracker } = linearScene();
    for (let count = 0; count < 120; count += 1) linear.addIssue();
    linear.faults.page = { field: 'issues', page: 2, fault: { kind: 'status', status: 502, body: 'bad gateway' } };
    await expect(tracker.fetchByStates(['Todo'])).rejects.toMatchObject({
      code: 'tracker_status',
      details: { status: 502, provider_code: 'linear_api_status' },
    });
    expect(linear.requests).toHaveLength(2);
  });
});

describe('issues by id', () => {
  // @conforms L4
  it('are read in batches of 50 and returned in the requested order, each once', async () => {
    const { linear, tracker } = linearScene();
    const added = Array.from({ length: 55 }, () => linear.addIssue().id);
    const wanted = added.toSorted((left, right) => left.slice(-1).localeCompare(right.slice(-1)));
    expect(ids(await tracker.fetchByIds([...wanted, ...wanted.slice(0, 7)]))).toEqual(wanted);
    expect(linear.requests.map(({ variables }) => variables)).toMatchObject([
      {
        filter: { id: { in: wanted.slice(0, 50) }, project: { slugId: { eq: 'baton' } } },
        first: 50,
        relationFirst: 50,
      },
      { filter: { id: { in: wanted.slice(50) } }, first: 5, relationFirst: 50 },
    ]);
  });

  it('do not exist when they are elsewhere, archived, in the trash or deleted', async () => {
    const { linear, tracker } = linearScene();
    linear.addProject({ slugId: 'other' });
    const [here, moved, archived, trashed, gone] = Array.from({ length: 5 }, () => linear.addIssue().id);
    if (moved && archived && trashed && gone) {
      linear.updateIssue(moved, { project: 'other' });
      linear.archive(archived);
      linear.trash(trashed);
      linear.remove(gone);
    }
    const all = [here, moved, archived, trashed, gone].map(String);
    expect(ids(await tracker.fetchByIds(all))).toEqual([here]);
  });

  it('are left out without a request when they cannot be ids', async () => {
    const { linear, tracker } = linearScene();
    const { id, identifier } = linear.addIssue();
    expect(await tracker.fetchByIds([identifier, '', '404', `${id}0`, "'; drop"])).toEqual([]);
    expect(linear.requests).toEqual([]);
    expect(ids(await tracker.fetchByIds(['404', id, identifier]))).toEqual([id]);
    expect(linear.requests[0]?.variables).toMatchObject({ filter: { id: { in: [id] } }, first: 1 });
  });

  // @conforms L2
  it.each(Object.entries(malformations))('fail as a whole when one is malformed (%s)', async (_name, malformation) => {
    const { linear, tracker } = linearScene();
    const added = [linear.addIssue().id, linear.addIssue().id];
    linear.faults.malformed.set(String(added[1]), malformation);
    await expect(tracker.fetchByIds(added)).rejects.toMatchObject({
      code: 'tracker_response',
      details: { provider_code: 'linear_unknown_payload' },
    });
  });

  it('have all labels and blockers too', async () => {
    const { linear, tracker } = linearScene();
    const issue = linear.addIssue({ labels: Array.from({ length: 60 }, (_, index) => `l${index}`) });
    for (let count = 0; count < 55; count += 1) linear.relate(linear.addIssue().id, issue.id);
    const [found] = await tracker.fetchByIds([issue.id]);
    expect(found?.labels).toHaveLength(60);
    expect(found?.blockedBy).toHaveLength(55);
  });
});

describe('the assignee', () => {
  // @conforms linear.2
  it('`me` is looked up once, and again only after the key was refused', async () => {
    const { linear, tracker, operationsOf } = linearScene({ assignee: 'me' });
    linear.addUser({ name: 'Other' });
    const mine = linear.addIssue({ assignee: 'Someone' }).id;
    const other = linear.addIssue({ assignee: 'Other' }).id;
    const nobodys = linear.addIssue().id;
    const dispatchable = async () =>
      Object.fromEntries((await tracker.fetchByStates(['Todo'])).map((each) => [each.id, each.dispatchable]));
    expect(await dispatchable()).toEqual({ [mine]: true, [other]: false, [nobodys]: false });
    expect(await operationsOf(dispatchable)).toEqual(['BatonCandidates']);

    linear.faults.next.push({ kind: 'status', status: 401, body: 'no' });
    await expect(dispatchable()).rejects.toMatchObject({ code: 'tracker_auth' });
    linear.setViewer('Other');
    expect(await dispatchable()).toEqual({ [mine]: false, [other]: true, [nobodys]: false });
  });

  it('is an error when it cannot be found, and does not mean everyone', async () => {
    const { linear, tracker } = linearScene({ assignee: 'me' });
    linear.addIssue();
    linear.faults.next.push({ kind: 'status', status: 500 });
    await expect(tracker.fetchByStates(['Todo'])).rejects.toMatchObject({ code: 'tracker_status' });
    expect(linear.counts()).toEqual({ BatonViewer: 1 });
    expect(await tracker.fetchByStates(['Todo'])).toMatchObject([{ dispatchable: false }]);
  });

  it('may be an id or an e-mail', async () => {
    const byMail = linearScene({ assignee: 'SOMEONE@example.com' });
    byMail.linear.addIssue({ assignee: 'Someone' });
    expect(await byMail.tracker.fetchByStates(['Todo'])).toMatchObject([{ dispatchable: true }]);
    const byId = linearScene({ assignee: byMail.linear.records.viewerId });
    byId.linear.addIssue({ assignee: 'Someone' });
    expect(await byId.tracker.fetchByStates(['Todo'])).toMatchObject([{ dispatchable: true }]);
    const nobody = linearScene({ assignee: 'nobody@example.com' });
    await expect(nobody.tracker.fetchByStates(['Todo'])).rejects.toMatchObject({ code: 'invalid_tracker_config' });
  });
});

describe('failures of Linear', () => {
  const errors = (code: string): string => JSON.stringify({ errors: [{ message: 'no', extensions: { code } }] });
  const cases: [string, Fault, string, Record<string, unknown>][] = [
    ['a 500', { kind: 'status', status: 500, body: 'x' }, 'tracker_status', { status: 500 }],
    ['a redirect', { kind: 'status', status: 302, headers: { location: 'https://evil.test' } }, 'tracker_status', {}],
    ['no content', { kind: 'status', status: 204 }, 'tracker_status', { provider_code: 'linear_api_status' }],
    ['a 401', { kind: 'status', status: 401, body: '' }, 'tracker_auth', { provider_code: 'linear_api_auth' }],
    ['a 403', { kind: 'status', status: 403, body: '{}' }, 'tracker_auth', {}],
    ['a 400 about the key', { kind: 'status', status: 400, body: errors('AUTHENTICATION_ERROR') }, 'tracker_auth', {}],
    ['a 200 about the key', { kind: 'graphql_errors', data: 'null', code: 'AUTHENTICATION_ERROR' }, 'tracker_auth', {}],
    [
      'errors',
      { kind: 'graphql_errors', data: 'null' },
      'tracker_response',
      { provider_code: 'linear_graphql_errors' },
    ],
    ['errors extra data', { kind: 'graphql_errors', data: 'whole' }, 'tracker_response', {}],
    ['garbage', { kind: 'garbage' }, 'tracker_response', { provider_code: 'linear_unknown_payload' }],
    ['JSON that is no answer', { kind: 'garbage', body: '[1]' }, 'tracker_response', {}],
    ['no data', { kind: 'garbage', body: '{"data":null}' }, 'tracker_response', {}],
    ['nodes that are no list', { kind: 'garbage', body: '{"data":{"issues":{"nodes":{}}}}' }, 'tracker_response', {}],
    ['a cut', { kind: 'cut', where: 'in_body' }, 'tracker_request', { provider_code: 'linear_api_request' }],
    [
      'RATELIMITED',
      { kind: 'rate_limit', resetAt: 1_800_000_000_000 },
      'tracker_rate_limited',
      { until: 1_800_000_000_000 },
    ],
    ['RATELIMITED in a 200', { kind: 'rate_limit', status: 200 }, 'tracker_rate_limited', {}],
    ['a 429', { kind: 'status', status: 429, body: 'slow down' }, 'tracker_rate_limited', {}],
  ];

  // @conforms spec-11.4
  it.each(cases)('are reported as the specification says: %s', async (_what, fault, code, details) => {
    const { linear, tracker } = linearScene();
    const { id } = linear.addIssue();
    for (const read of [
      () => tracker.fetchByStates(['Todo']),
      () => tracker.fetchByIds([id]),
      () => tracker.fetchSnapshot?.({ states: ['Todo'], watched: [id] }) ?? Promise.resolve(),
    ]) {
      linear.faults.next.push(fault);
      await expect(read()).rejects.toMatchObject({ code, details });
      if (code === 'tracker_rate_limited') return;
    }
    expect(linear.requests).toHaveLength(3);
  });

  // @conforms L7
  it('with status 400 and errors are reported and logged with status and body', async () => {
    const { linear, tracker, logger } = linearScene();
    const body = `{"errors": [\n  {"message": "Variable \\"$ids\\"   got invalid value"}\n]}${' x'.repeat(2_000)}`;
    linear.faults.next.push({ kind: 'status', status: 400, body });
    await expect(tracker.fetchByStates(['Todo'])).rejects.toMatchObject({
      code: 'tracker_status',
      details: { status: 400, provider_code: 'linear_api_status' },
    });
    const [line] = logger.lines.filter(({ level }) => level === 'warn');
    expect(line?.fields).toMatchObject({ status: 400, operation: 'BatonCandidates' });
    const told = String(line?.fields.body);
    expect(told).toContain('{"errors": [ {"message": "Variable \\"$ids\\" got invalid value"} ]}');
    expect(told.endsWith('...<truncated>')).toBe(true);
    expect(Buffer.byteLength(told)).toBeLessThanOrEqual(1_000 + '...<truncated>'.length);
  });

  // @conforms linear.3
  it('by too many requests stop further requests until the time that Linear names, and not longer', async () => {
    const { linear, tracker, clock } = linearScene();
    linear.addIssue();
    const until = clock.now() + 90_000;
    linear.faults.next.push({ kind: 'rate_limit', resetAt: until });
    await expect(tracker.fetchByStates(['Todo'])).rejects.toMatchObject({ details: { until } });
    await clock.advance(89_000);
    expect(tracker.pressure?.()).toMatchObject({ step: 'closed' });
    await expect(tracker.fetchByStates(['Todo'])).rejects.toMatchObject({
      code: 'tracker_rate_limited',
      details: { until: expect.any(Number) },
    });
    expect(linear.requests).toHaveLength(1);
    await clock.advance(2_000);
    expect(await tracker.fetchByStates(['Todo'])).toHaveLength(1);
  });

  // @conforms linear.4
  it('never show the key, even when Linear repeats it', async () => {
    const canary = 'lin_api_canary_1234567890';
    const { linear, tracker, logger } = linearScene({ api_key: new Secret(canary) }, { apiKey: canary });
    const { id } = linear.addIssue();
    const told: unknown[] = [];
    const echoes: Fault[] = [
      { kind: 'status', status: 400, body: `your key ${canary} is bad` },
      { kind: 'status', status: 401, body: `your key ${canary} is bad` },
      { kind: 'graphql_errors', data: 'null', message: `header authorization: ${canary}` },
      { kind: 'garbage', body: `{"data": "${canary}"}` },
      { kind: 'cut', where: 'before_head' },
      { kind: 'status', status: 429, body: canary },
    ];
    for (const echo of echoes) {
      linear.faults.next.push(echo);
      await tracker.fetchByIds([id]).catch((error: unknown) => told.push(error));
    }
    expect(told).toHaveLength(echoes.length);
    for (const error of told) {
      expect(error).toBeInstanceOf(BatonError);
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(canary);
      expect(JSON.stringify(error)).not.toContain(canary);
    }
    expect(inspect(logger.lines, { depth: 9 })).not.toContain(canary);
    expect(inspect(tracker, { depth: 9, showHidden: true })).not.toContain(canary);
  });
});

describe('a request', () => {
  it('carries a personal key unchanged and the token of an application as a bearer token', async () => {
    const app = linearScene({ api_key: new Secret('lin_oauth_fake') });
    app.linear.addIssue();
    expect(await app.tracker.fetchByStates(['Todo'])).toHaveLength(1);
    const person = linearScene();
    person.linear.addIssue();
    expect(await person.tracker.fetchByStates(['Todo'])).toHaveLength(1);
    const stranger = linearScene({ api_key: new Secret('lin_api_other') });
    await expect(stranger.tracker.fetchByStates(['Todo'])).rejects.toMatchObject({ code: 'tracker_auth' });
  });

  it('is counted under the name of its operation and its caller', async () => {
    const { tracker, sent } = linearScene();
    const caller = { job: 'dispatch', cause: 'revalidation' } as const;
    await tracker.fetchByIds(['00000000-0000-4000-8000-000000000000'], { caller });
    await tracker.fetchByStates(['Todo']);
    expect(sent).toMatchObject([
      { provider: 'linear', route: 'BatonIssuesById', method: 'POST', statusClass: '2xx', ...caller },
      { route: 'BatonCandidates', job: 'tracker_poll', cause: 'poll' },
    ]);
  });
});
