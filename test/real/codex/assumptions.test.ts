// @module-tag full
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { codexHome } from '../../fake/openai/codex-home.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../../fake/openai/fake-openai.ts';
import { type Scenario, shell } from '../../fake/openai/scenario.ts';
import { folderOnDisk } from '../../temporary-folder.ts';
import { type BareCodex, type BareCodexOptions, bareTurn, startBareCodex, startBareThread } from '../bare-codex.ts';
import { describeWithCodex } from '../codex-binary.ts';

// The assumptions of the backend, checked on Codex without Baton. Check a new version here first.
await describeWithCodex('the assumptions of Baton', (codex) => {
  const clean: (() => unknown)[] = [];
  afterEach(async () => {
    for (const each of clean.splice(0).reverse()) await each();
  });

  const makePlace = async (
    scenario: Scenario = {},
    more = '',
  ): Promise<{ options: BareCodexOptions; model: FakeOpenAi; workspace: string }> => {
    const folder = realpathSync(mkdtempSync(path.join(folderOnDisk(), 'baton-bare-codex-')));
    clean.push(() => rmSync(folder, { recursive: true, force: true }));
    const workspace = path.join(folder, 'workspace');
    mkdirSync(workspace);
    const model = await startFakeOpenAi(scenario);
    clean.push(() => model[Symbol.asyncDispose]());
    const { env } = codexHome(folder, model.url, { more });
    const options = { program: codex.path, cwd: workspace, env: { PATH: process.env.PATH ?? '', ...env } };
    return { options, model, workspace };
  };
  const start = async (options: BareCodexOptions): Promise<BareCodex> => {
    const bare = await startBareCodex(options);
    clean.push(() => bare[Symbol.asyncDispose]());
    return bare;
  };

  it('a turn needs no more than a thread and a prompt', async () => {
    const { options } = await makePlace();
    expect(await bareTurn(options, 'Hello.')).toMatchObject({ status: 'completed', items: [{ text: 'ok' }] });
  });

  it('the approval policy of older workflow files is refused, and the current one means the opposite', async () => {
    const { options, workspace: cwd } = await makePlace();
    const bare = await start(options);
    const names = ['sandbox_approval', 'rules', 'skill_approval', 'request_permissions', 'mcp_elicitations'];
    const all = (value: boolean): Record<string, boolean> => Object.fromEntries(names.map((name) => [name, value]));
    const refused = await bare.request('thread/start', { cwd, approvalPolicy: { reject: all(true) } });
    expect(refused.error?.message).toContain('unknown variant `reject`');
    const taken = await bare.request('thread/start', { cwd, approvalPolicy: { granular: all(false) } });
    expect(taken.result?.approvalPolicy).toEqual({ granular: all(false) });
  });

  it('a Codex that needs a login and has none says so without a turn', async () => {
    const needsLogin =
      '[model_providers.other]\nname = "Other"\nbase_url = "http://127.0.0.1:9"\nrequires_openai_auth = true\n';
    const { options } = await makePlace({}, needsLogin);
    const loggedOut = await start({ ...options, args: ['-c', 'model_provider="other"'] });
    const answer = await loggedOut.request('account/read', {});
    expect(answer.result).toMatchObject({ account: null, requiresOpenaiAuth: true });
    const needsNone = await start(options);
    expect((await needsNone.request('account/read', {})).result).toMatchObject({ requiresOpenaiAuth: false });
  });

  it('a thread keeps the dynamic tools it started with, whatever it is resumed with', async () => {
    const { options, model, workspace: cwd } = await makePlace();
    const tool = (name: string) => ({ type: 'function', name, description: name, inputSchema: { type: 'object' } });
    const first = await start(options);
    const threadId = await startBareThread(first, { cwd, dynamicTools: [tool('comment')] });
    await first.runTurn(threadId, 'Hello.');
    await first[Symbol.asyncDispose]();
    const second = await start(options);
    await second.request('thread/resume', { threadId, dynamicTools: [tool('other')] });
    await second.runTurn(threadId, 'Hello again.');
    const { toolNames } = model.requests[1]?.conversation ?? { toolNames: [] };
    expect(toolNames).toContain('comment');
    expect(toolNames).not.toContain('other');
  });

  it('a command continues when its turn is interrupted, until it is cleaned up', async () => {
    const { options, workspace: cwd } = await makePlace({ otherwise: [{ calls: [shell('sleep 323')] }] });
    const bare = await start(options);
    const threadId = await startBareThread(bare, { cwd });
    const turn = bare.runTurn(threadId, 'Sleep.');
    const isCommand = (params: unknown): boolean => JSON.stringify(params).includes('commandExecution');
    const begun = await bare.waitFor(({ method, params }) => method === 'item/started' && isCommand(params));
    await bare.request('turn/interrupt', { threadId, turnId: begun.params?.turnId });
    expect((await turn).status).toBe('interrupted');
    const list = async () => (await bare.request('thread/backgroundTerminals/list', { threadId })).result?.data;
    expect(await list()).toHaveLength(1);
    await bare.request('thread/backgroundTerminals/clean', { threadId });
    await expect.poll(list).toEqual([]);
  });

  it('compacting a thread takes a separate turn', async () => {
    const { options, workspace: cwd } = await makePlace();
    const bare = await start(options);
    const threadId = await startBareThread(bare, { cwd });
    await bare.runTurn(threadId, 'Hello.');
    const turnsBefore = bare.heard.filter(({ method }) => method === 'turn/completed').length;
    expect(await bare.request('thread/compact/start', { threadId })).toMatchObject({ result: {} });
    const isEnd = (): boolean => bare.heard.filter(({ method }) => method === 'turn/completed').length > turnsBefore;
    await expect.poll(isEnd).toBe(true);
    expect(JSON.stringify(bare.heard)).toContain('contextCompaction');
  });
});
