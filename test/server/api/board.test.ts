import { describe, expect, it, onTestFinished } from 'vitest';
import { importedIssues } from '../../../src/client/schema/board.ts';
import { boardService } from '../../../src/daemon/services/board-service.ts';
import type { Caller } from '../../../src/server/api/caller.ts';
import { begun } from '../../orchestrator/scene.ts';
import { ada, openScene } from '../../tracker/board-scene.ts';
import { apiOf, projectOf } from './api-scene.ts';
import { readsOf } from './read-scene.ts';

const at = '/api/v1/projects/test/board';

/** A project on a real board with three issues; the second is a part of the first, and waits for it. */
async function given() {
  const { board, store, close } = await openScene();
  onTestFinished(close);
  const { issue: first } = await board.create({ title: 'First', labels: ['bug'], description: 'What' }, ada);
  const second = { title: 'Second', parentId: first.id, blockerIds: [first.id] };
  await board.create(second, ada);
  await board.create({ title: 'Third', status: 'done' }, ada);
  await board.comment(first.id, 'said', { kind: 'run', runId: 'r1' });
  return { board, project: projectOf(await begun(), 'test', { board: () => boardService(board, store) }) };
}

describe('the board over the API', () => {
  it('has every status with its count, and as many issues as asked for', async () => {
    const { get } = readsOf([(await given()).project]);
    const { columns } = await get(`${at}?limit=1`);
    expect(
      columns.map(({ status, count, issues }: Record<string, unknown[]>) => [status, count, issues?.length]),
    ).toEqual(
      expect.arrayContaining([
        ['todo', 2, 1],
        ['done', 1, 1],
        ['review', 0, 0],
      ]),
    );
  });

  it('lists issues by status and label, and says whether there are more', async () => {
    const { get, refused } = readsOf([(await given()).project]);
    const names = async (query: string) => {
      const { issues, more } = await get(`${at}/issues?${query}`);
      return [issues.map(({ identifier }: { identifier: string }) => identifier).toSorted(), more];
    };
    expect(await names('')).toEqual([['BAT-1', 'BAT-2', 'BAT-3'], false]);
    expect(await names('status=todo&status=done&limit=2')).toEqual([['BAT-1', 'BAT-2'], true]);
    expect(await names('label=BUG')).toEqual([['BAT-1'], false]);
    expect(await refused(`${at}/issues?status=nirvana`)).toEqual([422, 'invalid_request']);
  });

  it('shows everything about an issue, by its number too', async () => {
    const { get, refused } = readsOf([(await given()).project]);
    expect(await get(`${at}/issues/1`)).toMatchObject({
      issue: { identifier: 'BAT-1', description: 'What', labels: ['bug'] },
      children: [{ identifier: 'BAT-2' }],
      blocks: [{ identifier: 'BAT-2' }],
      comments: [{ body: 'said', author: { kind: 'run', run_id: 'r1' } }],
      history: [{ field: 'created', author: { kind: 'person', name: 'ada' } }],
      last_run: null,
    });
    expect(await get(`${at}/issues/bat-2`)).toMatchObject({ issue: { parent: 'BAT-1' }, parent: { title: 'First' } });
    expect(await refused(`${at}/issues/BAT-9`)).toEqual([404, 'tracker_issue_not_found']);
  });

  it('is refused where the issues are in another tracker', async () => {
    const { refused } = readsOf([projectOf(await begun())]);
    for (const path of ['', '/issues', '/issues/BAT-1'])
      expect(await refused(`${at}${path}`)).toEqual([409, 'tracker_not_board']);
  });
});

describe('an import over the API', () => {
  const file = (text: string) => ({ format: 'jsonl', content: Buffer.from(text).toString('base64') });

  it('creates all issues of a file in the name of the caller, or none', async () => {
    const { board, project } = await given();
    const { ask } = await apiOf([project]);
    const { status, json } = await ask('POST', `${at}/import`, file('{"title": "New"}\n{"title": "Newer"}\n'));
    expect(status).toBe(200);
    expect(importedIssues.strict().safeParse(json).error).toBeUndefined();
    expect(json).toMatchObject({ created: [{ title: 'New' }, { title: 'Newer' }], known: [] });
    const { history } = await board.details((await board.find('4')).id);
    expect(history).toMatchObject([{ author: { kind: 'person', name: 'me' } }]);
    expect(await ask('POST', `${at}/import`, file('{"title": "Good"}\n{"title": 7}\n'))).toMatchObject({
      status: 422,
      json: { error: { code: 'board_import_invalid', details: { problems: [{ line: 2 }] } } },
    });
    expect(await board.list({ statuses: [], labels: [], limit: 10 })).toHaveLength(5);
  });

  it('is refused for an agent', async () => {
    const agent: Caller = { scopes: new Set(['read', 'operate']), author: { kind: 'run', runId: 'r1' } };
    const { ask } = await apiOf([(await given()).project], agent);
    expect(await ask('POST', `${at}/import`, file('{"title": "New"}'))).toMatchObject({
      status: 403,
      json: { error: { code: 'not_for_agents' } },
    });
  });
});
