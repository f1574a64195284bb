import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/text/secret.ts';
import type { Fault } from '../../fake/linear/faults.ts';
import { toolOf, toolScene } from './graphql-tool-scene.ts';

const viewer = 'query Who { viewer { name } }';
const needsQuery = '`linear_graphql` requires a non-empty `query` string.';
const needsInput =
  '`linear_graphql` expects either a GraphQL query string or an object with `query` and optional `variables`.';

describe.each(['any', 'project'])('linear_graphql with the scope %s', (scope) => {
  const given = { tool_scope: scope };

  // @conforms A24
  it('has the name and the input of the reference', () => {
    const { tool } = toolScene(given);
    expect(tool).toMatchObject({
      name: 'linear_graphql',
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        required: ['query'],
        properties: { query: { type: 'string' }, variables: { type: ['object', 'null'] } },
      },
    });
    expect(tool.description.includes('baton')).toBe(scope === 'project');
  });

  // @conforms A25
  it('accepts a plain string, trims it and sends it without variables', async () => {
    const { ask, linear } = toolScene(given);
    expect(await ask(`  ${viewer}\n `)).toEqual({ success: true, said: { data: { viewer: { name: 'Someone' } } } });
    expect(linear.requests).toMatchObject([{ variables: {} }]);
    expect(linear.requests[0]?.document.trim()).toBe(linear.requests[0]?.document);
    expect(linear.requests[0]?.document.replaceAll(/\s+/g, ' ')).toBe(viewer);
  });

  // @conforms A26
  it('sends the document and its variables, and no operation name', async () => {
    const { ask, linear } = toolScene(given);
    const issue = linear.addIssue();
    const query = 'query One($id: String!) { issue(id: $id) { identifier } }';
    const input = { query, variables: { id: issue.id }, operationName: 'Another', more: 1 };
    expect(await ask(input)).toEqual({ success: true, said: { data: { issue: { identifier: 'BAT-1' } } } });
    expect(linear.requests.at(-1)).toMatchObject({ operation: 'One', variables: { id: issue.id } });
    expect((await ask({ query: viewer, variables: null })).success).toBe(true);
  });

  it.each([
    // @conforms A28
    ['nothing but blanks', '   ', needsQuery],
    // @conforms A28
    ['a blank query', { query: '   ' }, needsQuery],
    // @conforms A28
    ['variables alone', { variables: { id: 'x' } }, needsQuery],
    ['nothing', {}, needsQuery],
    ['a query that is not text', { query: 7 }, needsQuery],
    // @conforms A29
    ['a list', [viewer], needsInput],
    ['null', null, needsInput],
    ['no input at all', undefined, needsQuery],
    ['a number', 7, needsInput],
    [
      'variables in a list',
      { query: viewer, variables: [1] },
      '`linear_graphql.variables` must be a JSON object when provided.',
    ],
    [
      'variables as text',
      { query: viewer, variables: '{}' },
      '`linear_graphql.variables` must be a JSON object when provided.',
    ],
  ])('answers %s with the requirements, and sends nothing', async (_what, input, message) => {
    const { ask, linear } = toolScene(given);
    expect(await ask(input)).toEqual({ success: false, said: { error: { message } } });
    expect(linear.requests).toEqual([]);
  });

  // @conforms A31
  it('treats an answer with errors as a failure, and returns it whole', async () => {
    const { ask, linear } = toolScene(given);
    linear.faults.next.push({ kind: 'graphql_errors', data: 'null', message: 'Unknown thing' });
    expect(await ask(viewer)).toMatchObject({
      success: false,
      said: { data: null, errors: [{ message: 'Unknown thing' }] },
    });
    linear.faults.next.push({ kind: 'graphql_errors', data: 'whole', message: 'Half of it' });
    expect(await ask(viewer)).toMatchObject({
      success: false,
      said: { data: { viewer: { name: 'Someone' } }, errors: [{ message: 'Half of it' }] },
    });
    linear.faults.next.push({ kind: 'garbage', body: '{"data":{"viewer":null},"errors":[]}' });
    expect(await ask(viewer)).toEqual({ success: true, said: { data: { viewer: null }, errors: [] } });
  });

  // @conforms A32
  it('names the settings for a key when there is none', async () => {
    const { ask, linear } = toolScene({ ...given, api_key: new Secret(' ') });
    const { success, said } = await ask(viewer);
    expect([success, linear.requests]).toEqual([false, []]);
    expect(said.error?.message).toContain('`tracker.provider.api_key`');
    expect(said.error?.message).toContain('`LINEAR_API_KEY`');
  });

  // @conforms A33
  it('reports the status of a refusal', async () => {
    const { ask, linear } = toolScene(given);
    linear.faults.next.push({ kind: 'status', status: 503, body: 'down' });
    expect(await ask(viewer)).toEqual({
      success: false,
      said: { error: { message: 'Linear GraphQL request failed with HTTP 503.', status: 503 } },
    });
    linear.faults.next.push({ kind: 'status', status: 401 });
    expect((await ask(viewer)).said.error).toMatchObject({ status: 401 });
  });

  // @conforms A34
  it('reports why there was no answer', async () => {
    const { ask, linear } = toolScene(given);
    linear.faults.down = true;
    expect(await ask(viewer)).toEqual({
      success: false,
      said: {
        error: {
          message: 'Linear GraphQL request failed before receiving a successful response.',
          reason: expect.stringContaining('linear_graphql'),
        },
      },
    });
  });

  it.each(['<html>', '"text"', '[]', 'null', ''])('rejects %j as an answer', async (body) => {
    const { ask, linear } = toolScene(given);
    linear.faults.next.push({ kind: 'garbage', body });
    expect(await ask(viewer)).toMatchObject({ success: false, said: { error: { reason: expect.any(String) } } });
  });

  it.each<[string, Fault]>([
    ['a status', { kind: 'status', status: 502 }],
    ['a cut after it arrived', { kind: 'cut', where: 'in_body' }],
    ['garbage', { kind: 'garbage' }],
    ['errors', { kind: 'graphql_errors', data: 'null' }],
  ])('sends a mutation once, even after %s', async (_what, fault) => {
    const { ask, linear } = toolScene(given);
    const { id } = linear.addIssue();
    linear.faults.next.push({ ...fault, operation: 'Say' });
    const query = 'mutation Say($id: String!) { commentCreate(input: { issueId: $id, body: "x" }) { success } }';
    expect((await ask({ query, variables: { id } })).success).toBe(false);
    expect(linear.counts().Say).toBe(1);
  });

  it('reports when to try again after a refusal of Linear, and sends nothing until then', async () => {
    const { ask, linear, clock } = toolScene(given);
    const resetAt = clock.now() + 600_000;
    linear.faults.next.push({ kind: 'rate_limit', resetAt });
    const first = await ask(viewer);
    await clock.advance(60_000);
    const second = await ask(viewer);
    expect(linear.requests).toHaveLength(1);
    for (const [{ success, said }, left] of [
      [first, 600_000],
      [second, 540_000],
    ] as const) {
      expect([success, said.error]).toMatchObject([
        false,
        { code: 'tracker_rate_limited', retry_at: new Date(resetAt).toISOString(), retry_after_ms: left },
      ]);
    }
  });

  it('counts as a request of an agent unless another caller is named', async () => {
    const { ask, sent } = toolScene(given);
    await ask(viewer);
    await ask(viewer, { caller: { job: 'rehearsal', cause: 'person' } });
    expect(sent.map(({ job, cause, route }) => `${route} ${job} ${cause}`)).toEqual([
      'linear_graphql agent_tools agent',
      'linear_graphql rehearsal person',
    ]);
  });

  it('answers when it was cancelled, and sends nothing', async () => {
    const { ask, linear } = toolScene(given);
    const answer = await ask(viewer, { signal: AbortSignal.abort(new Error('enough')) });
    expect(answer).toMatchObject({ success: false, said: { error: { reason: 'enough' } } });
    expect(linear.requests).toEqual([]);
  });

  it('never shows the key, even when Linear repeats it', async () => {
    const { ask, linear } = toolScene(given);
    linear.faults.next.push({ kind: 'garbage', body: `{"data":{"viewer":{"name":"${linear.apiKey}"}}}` });
    linear.faults.next.push({ kind: 'status', status: 400, body: `{"errors":[{"message":"${linear.apiKey}"}]}` });
    const answers = [await ask(viewer), await ask(viewer)];
    expect(JSON.stringify(answers)).toContain('[secret]');
    expect(JSON.stringify(answers)).not.toContain(linear.apiKey);
  });

  it('answers with indented JSON', async () => {
    const { output } = await toolScene(given).tool.call(viewer, {});
    expect(output).toBe('{\n  "data": {\n    "viewer": {\n      "name": "Someone"\n    }\n  }\n}');
  });

  // @conforms L8
  it('keeps the key and the address of the settings it was created with', async () => {
    const { settings, tracker, linear } = toolScene(
      { ...given, api_key: new Secret('bound-token') },
      { apiKey: 'bound-token' },
    );
    const tool = toolOf(tracker);
    Object.assign(settings.provider, {
      api_key: new Secret('later'),
      endpoint: 'https://evil.test',
      tool_scope: 'any',
    });
    expect((await tool.call(viewer, {})).success).toBe(true);
    const issue = linear.addIssue({ project: 'other' });
    const beyond = await tool.call({ query: `{ issue(id: "${issue.id}") { id } }` }, {});
    expect(beyond.success).toBe(scope === 'any');
  });
});

describe('linear_graphql with the scope any', () => {
  it('sends several operations unchanged, and lets Linear choose', async () => {
    const { ask, linear } = toolScene({ tool_scope: 'any' });
    const both = `${viewer} query All { users { nodes { name } } } # and more`;
    await ask(both);
    expect(linear.requests).toMatchObject([{ document: both }]);
  });

  it("reaches other projects, and returns Linear's objections to a document", async () => {
    const { ask, linear } = toolScene({ tool_scope: 'any' });
    const { id } = linear.addIssue({ project: 'other' });
    const { said } = await ask(
      `{ issue(id: "${id}") { project { slugId } } viewer { assignedIssues { nodes { id } } } }`,
    );
    expect(said.data).toMatchObject({ issue: { project: { slugId: 'other' } } });
    const wrong = await ask('{ issue(id: "x") { nonsense } }');
    expect(wrong.said.error).toMatchObject({
      message: 'Linear GraphQL request failed with HTTP 400.',
      status: 400,
      body: { errors: [{ message: expect.stringContaining('nonsense') }] },
    });
    expect(linear.counts().BatonToolScope).toBeUndefined();
  });
});
