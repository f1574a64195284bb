import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../property-runs.ts';
import { type ToolScene, toolScene } from './graphql-tool-scene.ts';

/** An issue in the project, and next to it everything that a document could reach from it. */
function scene(): ToolScene & Ids {
  const made = toolScene();
  const { linear } = made;
  const [project, other] = [...linear.records.projects.values()];
  const [team, foreignTeam] = [...linear.records.teams.values()];
  const inside = linear.addIssue({ title: 'Inside', assignee: 'Someone', labels: ['bug'] });
  const sibling = linear.addIssue({ title: 'Sibling', parent: inside.id });
  const outside = linear.addIssue({ title: 'CANARY', description: 'CANARY', project: 'other', assignee: 'Someone' });
  const nowhere = linear.addIssue({ title: 'CANARY', project: null, parent: inside.id, team: 'OPS' });
  linear.relate(outside.id, inside.id);
  linear.updateIssue(inside.id, { parent: outside.id });
  const comment = linear.addComment({ issue: inside.id, body: 'said inside', user: 'Someone' }).id;
  const foreignComment = linear.addComment({ issue: outside.id, body: 'CANARY' }).id;
  linear.attach({ issue: outside.id, url: 'https://example.com/canary', title: 'CANARY' });
  return {
    ...made,
    inside: inside.id,
    sibling: sibling.id,
    outside: outside.id,
    nowhere: nowhere.id,
    comment,
    foreignComment,
    project: project?.id ?? '',
    other: other?.id ?? '',
    team: team?.id ?? '',
    foreignTeam: foreignTeam?.id ?? '',
  };
}

type Ids = Readonly<
  Record<
    | 'inside'
    | 'sibling'
    | 'outside'
    | 'nowhere'
    | 'comment'
    | 'foreignComment'
    | 'project'
    | 'other'
    | 'team'
    | 'foreignTeam',
    string
  >
>;

/** The state of everything outside the project. */
function outsideOf({ linear, outside, nowhere, foreignComment }: ToolScene & Ids): string {
  return JSON.stringify([
    linear.issue(outside),
    linear.issue(nowhere),
    linear.commentsOf(outside),
    linear.commentsOf(nowhere),
    linear.attachmentsOf(outside),
    linear.records.comments.get(foreignComment),
    [...linear.records.relations.values()],
    linear.records.issues.size,
    linear.issue('BAT-1').projectId,
    linear.issue('BAT-1').teamId,
  ]);
}

describe('inside the project', () => {
  it('an agent reads its issue with comments, states, labels and attachments, by id or identifier', async () => {
    const { ask, linear, inside } = scene();
    const query = `query Mine($id: String!) { issue(id: $id) { ...Whole comments(first: 5) { nodes { id body user { name } } } } }
      fragment Whole on Issue { identifier title description url branchName state { id name type }
        team { id key states { nodes { id name } } } labels { nodes { id name } } project { id slugId }
        attachments { nodes { title url } } creator { displayName } children { nodes { title } }
        parent { identifier state { name } } inverseRelations { nodes { type issue { identifier state { name } } } } }`;
    for (const id of [inside, 'BAT-1', 'bat-1']) {
      const { success, said } = await ask({ query, variables: { id } });
      expect(success, JSON.stringify(said)).toBe(true);
      expect(said.data).toMatchObject({
        issue: {
          title: 'Inside',
          comments: { nodes: [{ body: 'said inside', user: { name: 'Someone' } }] },
          children: { nodes: [{ title: 'Sibling' }] },
          inverseRelations: { nodes: [{ type: 'blocks', issue: { identifier: 'BAT-3' } }] },
        },
      });
      expect(JSON.stringify(said)).not.toContain('CANARY');
    }
    expect(linear.complaints).toEqual([]);
    expect(linear.counts()).toEqual({ BatonToolScope: 3, Mine: 3 });
  });

  it('an agent moves its issue, comments, edits its comment and the text, and attaches a link', async () => {
    const { ask, linear, inside, comment } = scene();
    const done = [...linear.records.states.values()].find(({ name }) => name === 'Done')?.id;
    const query = `mutation All($id: String!, $state: String!, $input: CommentCreateInput!, $comment: String!) {
      issueUpdate(id: $id, input: { stateId: $state, description: "new", priority: 1 }) { success issue { state { name } } }
      commentCreate(input: $input) { success comment { id body } }
      commentUpdate(id: $comment, input: { body: "mended" }) { success }
      attachmentLinkURL(issueId: $id, url: "https://example.com/pr/1", title: "The change") { success attachment { url } }
      attachmentCreate(input: { issueId: $id, title: "Log", url: "https://example.com/log" }) { success }
    }`;
    const variables = { id: inside, state: done, input: { issueId: 'BAT-1', body: 'hello' }, comment };
    expect(await ask({ query, variables })).toMatchObject({
      success: true,
      said: { data: { issueUpdate: { success: true, issue: { state: { name: 'Done' } } } } },
    });
    expect(linear.issue(inside)).toMatchObject({ description: 'new', priority: 1 });
    expect(linear.commentsOf(inside).map(({ body }) => body)).toEqual(['mended', 'hello']);
    expect(linear.attachmentsOf(inside).map(({ url }) => url)).toEqual([
      'https://example.com/pr/1',
      'https://example.com/log',
    ]);
    expect(linear.counts()).toEqual({ BatonToolScope: 1, All: 1 });
  });

  it('an agent removes the parent of its issue with a null', async () => {
    const { ask, linear, sibling } = scene();
    expect(linear.issue(sibling).parentId).not.toBeNull();
    const query = 'mutation($p: String) { issueUpdate(id: "BAT-2", input: { parentId: $p }) { success } }';
    expect((await ask({ query, variables: { p: null } })).success).toBe(true);
    expect(linear.issue(sibling).parentId).toBeNull();
  });

  it('texts of an agent arrive unchanged, in the document and in a variable', async () => {
    const { ask, linear, inside } = scene();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }), async (body) => {
        const written = `commentCreate(input: { issueId: "BAT-1", body: ${JSON.stringify(body)} }) { success }`;
        const query = `mutation($i: CommentCreateInput!) { a: ${written} b: commentCreate(input: $i) { success } }`;
        const { success } = await ask({ query, variables: { i: { issueId: inside, body } } });
        expect(success).toBe(true);
        const said = linear.commentsOf(inside).slice(-2);
        expect(said.map((comment) => comment.body)).toEqual([body, body]);
      }),
      { numRuns: runs(40), examples: [['\n"""\\ $x {{ y }}\u2028'], [' '], ['#']] },
    );
  });

  it('an agent files a follow-up in the same project and relates it', async () => {
    const { ask, linear, inside, sibling, project, team } = scene();
    const query = `mutation Follow($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { identifier project { slugId } } } }`;
    const stateId = [...linear.records.states.values()].find(({ name }) => name === 'Backlog')?.id;
    const input = { projectId: project, teamId: team, stateId, title: 'Follow up', parentId: inside };
    expect(await ask({ query, variables: { input } })).toMatchObject({
      success: true,
      said: { data: { issueCreate: { issue: { identifier: 'BAT-4', project: { slugId: 'baton' } } } } },
    });
    const relate = `mutation { issueRelationCreate(input: { issueId: "BAT-4", relatedIssueId: "${sibling}", type: blocks }) { success } }`;
    expect((await ask(relate)).success).toBe(true);
    expect(linear.complaints).toEqual([]);
  });

  it('a list of issues contains only those of the project, however it is requested', async () => {
    const { ask, linear, project } = scene();
    const asked: readonly [string, Readonly<Record<string, unknown>>][] = [
      ['{ issues { nodes { title } } }', {}],
      ['{ issues(filter: null) { nodes { title } } }', {}],
      ['{ issues(filter: {}) { edges { node { title } } pageInfo { hasNextPage } } }', {}],
      [
        '{ a: issues(first: 100, includeArchived: true) { nodes { title } } b: issues(orderBy: updatedAt) { nodes { title } } }',
        {},
      ],
      ['query($f: IssueFilter) { issues(filter: $f) { nodes { title } } }', {}],
      ['query($f: IssueFilter) { issues(filter: $f) { nodes { title } } }', { f: null }],
      ['query($f: IssueFilter = { title: { contains: "n" } }) { issues(filter: $f) { nodes { title } } }', {}],
      [
        'query($f: IssueFilter!) { issues(filter: $f) { nodes { title } } }',
        { f: { or: [{ title: { neq: 'x' } }, { priority: { null: true } }] } },
      ],
      [
        'query($f: IssueFilter!) { issues(filter: { or: [$f, { title: { eq: "CANARY" } }] }) { nodes { title } } }',
        { f: { title: { eq: 'Inside' } } },
      ],
      [
        'query($p: String!) { project(id: $p) { slugId issues(filter: { title: { neq: "" } }) { nodes { title } } } }',
        { p: project },
      ],
      ['{ project(id: "baton") { issues { nodes { title children { nodes { title } } } } } }', {}],
    ];
    for (const [query, variables] of asked) {
      const { success, said } = await ask({ query, variables });
      expect([success, query, said]).toEqual([true, query, said]);
      expect(JSON.stringify(said)).toContain('Inside');
      expect(JSON.stringify(said)).not.toContain('CANARY');
    }
    expect(linear.complaints).toEqual([]);
  });

  it('labels are those of the workspace and of the team of an issue', async () => {
    const { ask, linear } = scene();
    linear.addTeamLabel('BAT', 'ours');
    linear.addTeamLabel('OPS', 'CANARY');
    const query =
      'query($f: IssueLabelFilter) { issueLabels(filter: $f) { nodes { name } } issue(id: "BAT-1") { team { labels { nodes { name } } } } }';
    expect((await ask({ query })).said.data).toEqual({
      issueLabels: { nodes: [{ name: 'bug' }] },
      issue: { team: { labels: { nodes: [{ name: 'ours' }] } } },
    });
    expect((await ask({ query, variables: { f: { name: { neq: 'x' } } } })).said.data).toMatchObject({
      issueLabels: { nodes: [{ name: 'bug' }] },
    });
  });

  it('an agent may use introspection', async () => {
    const { ask } = scene();
    expect(await ask('{ __type(name: "Mutation") { name } }')).toMatchObject({
      success: true,
      said: { data: { __type: { name: 'Mutation' } } },
    });
  });
});

describe('outside the project', () => {
  const reads: readonly [string, (ids: Ids) => string][] = [
    ['an issue by its id', ({ outside }) => `{ issue(id: "${outside}") { title } }`],
    ['an issue by its identifier', () => '{ issue(id: "bat-3") { title } }'],
    ['an issue of no project', ({ nowhere }) => `{ issue(id: "${nowhere}") { title } }`],
    [
      'one extra an allowed one',
      ({ inside, outside }) => `{ a: issue(id: "${inside}") { id } b: issue(id: "${outside}") { title } }`,
    ],
    ['one in a block of text', ({ outside }) => `{ issue(id: """${outside}""") { title } }`],
    [
      'one that is left out by a directive',
      ({ outside }) => `{ viewer { id } issue(id: "${outside}") @skip(if: true) { title } }`,
    ],
    ['one in a fragment', ({ outside }) => `{ ...Q } fragment Q on Query { issue(id: "${outside}") { title } }`],
    ['one in an inline fragment', ({ outside }) => `{ ... on Query { ... { issue(id: "${outside}") { title } } } }`],
    ['one by default', ({ outside }) => `query($id: String! = "${outside}") { issue(id: $id) { title } }`],
    ['a comment', ({ foreignComment }) => `{ comment(id: "${foreignComment}") { body } }`],
    ['a comment by its hash', () => '{ comment(hash: "x") { body } }'],
    ['an issue under an empty name', () => '{ issue(id: "") { title } }'],
    ['an issue under a strange name', () => '{ issue(id: "../BAT-1") { title } }'],
    ['another project', ({ other }) => `{ project(id: "${other}") { name } }`],
    ['another project by its slug', () => '{ project(id: "other") { name } }'],
    ['another team', ({ foreignTeam }) => `{ team(id: "${foreignTeam}") { name } }`],
    ['its own issues', () => '{ viewer { assignedIssues { nodes { title } } } }'],
    ['the issues of an assignee', () => '{ issue(id: "BAT-1") { assignee { assignedIssues { nodes { title } } } } }'],
    ['the issues of a team', () => '{ issue(id: "BAT-1") { team { issues { nodes { title } } } } }'],
    ['the issues of a state', () => '{ issue(id: "BAT-1") { state { issues { nodes { title } } } } }'],
    ['the issues of a label', () => '{ issue(id: "BAT-1") { labels { nodes { issues { nodes { title } } } } } }'],
    ['the title of a parent', () => '{ issue(id: "BAT-1") { parent { title } } }'],
    [
      'a parent by a fragment on issues',
      () => '{ issue(id: "BAT-1") { parent { ...F } } } fragment F on Issue { title }',
    ],
    ['a parent by an interface', () => '{ issue(id: "BAT-1") { parent { ... on Node { ... on Issue { title } } } } }'],
    ['the children of a parent', () => '{ issue(id: "BAT-1") { parent { children { nodes { title } } } } }'],
    ['what blocks it', () => '{ issue(id: "BAT-1") { inverseRelations { nodes { issue { description } } } } }'],
    ['people', () => '{ users { nodes { email } } }'],
    ['the workspace', () => '{ organization { name } }'],
    ['all projects', () => '{ projects { nodes { name } } }'],
    ['all teams', () => '{ teams { nodes { name } } }'],
    ['all comments', () => '{ comments { nodes { body } } }'],
    ['a search', () => '{ searchIssues(term: "CANARY") { nodes { title } } }'],
    ['anything by its id', ({ outside }) => `{ node(id: "${outside}") { id } }`],
    [
      'a filter that goes on to a parent',
      () => '{ issues(filter: { parent: { title: { startsWith: "C" } } }) { nodes { id } } }',
    ],
    [
      'a filter that goes on to an assignee',
      () =>
        '{ issues(filter: { assignee: { assignedIssues: { some: { title: { eq: "CANARY" } } } } }) { nodes { id } } }',
    ],
    [
      'a filter that names another project',
      () => '{ issues(filter: { project: { slugId: { eq: "other" } } }) { nodes { title } } }',
    ],
    ['a second filter', () => '{ issues(filter: {}, filter: {}) { nodes { title } } }'],
    ['a subscription', () => 'subscription { issueUpdated { id } }'],
    ['two operations', () => 'query A { viewer { id } } query B { viewer { name } }'],
    ['its own directive', () => '{ issues @inProject { nodes { title } } }'],
    ['its own definition', () => '{ viewer { id } } extend type Query { users: [User] }'],
    ['a fragment without end', () => '{ ...A } fragment A on Query { ...A }'],
    ['what is not GraphQL', () => 'query {'],
    ['nothing', () => '# nothing'],
  ];

  // @conforms tools.7
  it.each(reads)('an agent does not read %s', async (_what, query) => {
    const made = scene();
    const { success, said } = await made.ask(query(made));
    expect(success).toBe(false);
    expect(said.error).toMatchObject({ code: 'tool_scope', next_step: expect.stringContaining('tool_scope: any') });
    expect(said.error?.refused?.length).toBeGreaterThan(0);
    expect(said.error?.allowed?.Query).toContain('issues');
    expect(made.linear.requests.every(({ operation }) => operation === 'BatonToolScope')).toBe(true);
  });

  const writes: readonly [string, string, (ids: Ids) => Readonly<Record<string, unknown>>][] = [
    [
      'change an issue',
      'mutation($a: String!) { issueUpdate(id: $a, input: { title: "x" }) { success } }',
      ({ outside: a }) => ({ a }),
    ],
    [
      'move its issue to another project',
      'mutation($p: String!) { issueUpdate(id: "BAT-1", input: { projectId: $p }) { success } }',
      ({ other: p }) => ({ p }),
    ],
    [
      'move it in a variable',
      'mutation($i: IssueUpdateInput!) { issueUpdate(id: "BAT-1", input: $i) { success } }',
      ({ other }) => ({ i: { projectId: other } }),
    ],
    [
      'take it out of the project',
      'mutation($i: IssueUpdateInput!) { issueUpdate(id: "BAT-1", input: $i) { success } }',
      () => ({ i: { projectId: null } }),
    ],
    [
      'move it to another team',
      'mutation($t: String!) { issueUpdate(id: "BAT-1", input: { teamId: $t }) { success } }',
      ({ foreignTeam: t }) => ({ t }),
    ],
    ['throw it away', 'mutation { issueUpdate(id: "BAT-1", input: { trashed: true }) { success } }', () => ({})],
    ['delete it', 'mutation { issueDelete(id: "BAT-1") { success } }', () => ({})],
    [
      'hand it to another agent',
      'mutation { issueUpdate(id: "BAT-1", input: { delegateId: "x" }) { success } }',
      () => ({}),
    ],
    [
      'put it under an issue',
      'mutation($a: String!) { issueUpdate(id: "BAT-1", input: { parentId: $a }) { success } }',
      ({ nowhere: a }) => ({ a }),
    ],
    [
      'comment',
      'mutation($i: CommentCreateInput!) { commentCreate(input: $i) { success } }',
      ({ outside }) => ({ i: { issueId: outside, body: 'x' } }),
    ],
    [
      'comment on the project',
      'mutation($i: CommentCreateInput!) { commentCreate(input: $i) { success } }',
      ({ project }) => ({ i: { projectId: project, body: 'x' } }),
    ],
    [
      'answer a comment',
      'mutation($c: String!) { commentCreate(input: { issueId: "BAT-1", parentId: $c, body: "x" }) { success } }',
      ({ foreignComment: c }) => ({ c }),
    ],
    [
      'comment in another name',
      'mutation { commentCreate(input: { issueId: "BAT-1", body: "x", createAsUser: "Boss" }) { success } }',
      () => ({}),
    ],
    [
      'mend a comment',
      'mutation($c: String!) { commentUpdate(id: $c, input: { body: "x" }) { success } }',
      ({ foreignComment: c }) => ({ c }),
    ],
    [
      'attach',
      'mutation($a: String!) { attachmentLinkURL(issueId: $a, url: "https://x.test") { success } }',
      ({ outside: a }) => ({ a }),
    ],
    [
      'relate',
      'mutation($a: String!) { issueRelationCreate(input: { issueId: "BAT-1", relatedIssueId: $a, type: blocks }) { success } }',
      ({ outside: a }) => ({ a }),
    ],
    [
      'file an issue elsewhere',
      'mutation($i: IssueCreateInput!) { issueCreate(input: $i) { success } }',
      ({ other, team }) => ({ i: { projectId: other, teamId: team, title: 'x' } }),
    ],
    [
      'file an issue nowhere',
      'mutation($i: IssueCreateInput!) { issueCreate(input: $i) { success } }',
      ({ team }) => ({ i: { teamId: team, title: 'x' } }),
    ],
    [
      'file an issue nowhere by null',
      'mutation($i: IssueCreateInput!) { issueCreate(input: $i) { success } }',
      ({ team }) => ({ i: { projectId: null, teamId: team, title: 'x' } }),
    ],
    [
      'file an issue for another team',
      'mutation($p: String!, $t: String!) { issueCreate(input: { projectId: $p, teamId: $t, title: "x" }) { success } }',
      ({ project: p }) => ({ p, t: 'OPS' }),
    ],
    [
      'change two, one of them outside',
      'mutation($a: String!, $b: String!) { a: issueUpdate(id: $a, input: { title: "x" }) { success } b: issueUpdate(id: $b, input: { title: "x" }) { success } }',
      ({ inside: a, outside: b }) => ({ a, b }),
    ],
    [
      'publish a file',
      'mutation { fileUpload(contentType: "a", filename: "a", size: 1, makePublic: true) { success } }',
      () => ({}),
    ],
    ['make a webhook', 'mutation { webhookCreate(input: { url: "https://x.test" }) { success } }', () => ({})],
    [
      'use a name that is a list',
      'mutation($a: String!) { issueUpdate(id: $a, input: { title: "x" }) { success } }',
      ({ outside }) => ({ a: [outside] }),
    ],
    [
      'use a name that is an object',
      'mutation($a: String!) { issueUpdate(id: $a, input: { title: "x" }) { success } }',
      ({ outside }) => ({ a: { toString: outside } }),
    ],
  ];

  it.each(writes)('an agent does not %s', async (_what, query, variables) => {
    const made = scene();
    const before = outsideOf(made);
    const { success, said } = await made.ask({ query, variables: variables(made) });
    expect([success, said.error?.code]).toEqual([false, 'tool_scope']);
    expect(outsideOf(made)).toBe(before);
    expect(made.linear.issue('BAT-1').title).toBe('Inside');
    expect(made.linear.requests.every(({ operation }) => operation === 'BatonToolScope')).toBe(true);
  });

  it('a refusal names the fields that exist', async () => {
    const { ask } = scene();
    const { said } = await ask('mutation { issueUpdate(id: "BAT-1", input: { teamId: "x" }) { success } }');
    expect(said.error).toMatchObject({ code: 'tool_scope', message: expect.stringContaining('baton') });
    expect(said.error?.refused).toEqual([expect.stringContaining('teamId')]);
    expect(said.error?.allowed?.IssueUpdateInput).toContain('stateId');
    expect(said.error?.allowed?.Mutation).toContain('issueCreate');
  });

  it('nothing is sent while it is unknown whether the issue is inside', async () => {
    const { ask, linear, inside } = scene();
    const query = `mutation Change { issueUpdate(id: "${inside}", input: { title: "x" }) { success } }`;
    linear.faults.next.push({ kind: 'status', status: 503 });
    expect((await ask(query)).said.error).toEqual({
      message: 'Linear GraphQL request failed with HTTP 503.',
      status: 503,
    });
    linear.faults.next.push({ kind: 'cut', where: 'in_body' });
    expect((await ask(query)).said.error?.message).toBe(
      'Linear GraphQL request failed before receiving a successful response.',
    );
    linear.faults.next.push({ kind: 'garbage', body: '{"data":{"a0":{"project":null}}}' });
    expect((await ask(query)).success).toBe(false);
    linear.faults.next.push({ kind: 'garbage', body: '{"data":{"a0":{},"projects":{"nodes":[]}}}' });
    expect((await ask(query)).said.error?.code).toBe('tool_scope');
    expect(linear.counts()).toEqual({ BatonToolScope: 4 });
    expect(linear.issue(inside).title).toBe('Inside');
  });

  it('an issue that has just moved out is outside', async () => {
    const { ask, linear, inside } = scene();
    const query = `{ issue(id: "${inside}") { title } }`;
    expect((await ask(query)).success).toBe(true);
    linear.updateIssue(inside, { project: 'other' });
    expect((await ask(query)).said.error?.code).toBe('tool_scope');
  });

  it('a document that is too long, too deep or names too much is refused fast', async () => {
    const { ask, linear } = scene();
    const deep = (open: string, close: string): string => `${open.repeat(100_000)}id${close.repeat(100_000)}`;
    let nested: Record<string, unknown> = { title: { eq: 'x' } };
    for (let at = 0; at < 50_000; at += 1) nested = { and: [nested] };
    const many = Array.from({ length: 26 }, (_, at) => `a${at}: issue(id: "BAT-${at + 1}") { id }`);
    for (const input of [
      deep('{issue', '}'),
      `{ viewer { ${'id '.repeat(5_000)} } }`,
      { query: 'query($f: IssueFilter) { issues(filter: $f) { nodes { id } } }', variables: { f: nested } },
      `{ ${many.join(' ')} }`,
    ]) {
      expect((await ask(input)).said.error?.code).toBe('tool_scope');
    }
    expect(linear.requests).toEqual([]);
  });
});
