import { describe, expect, it } from 'vitest';
import type { IssueComments } from '../../../src/tracker/tracker.ts';
import type { Fault } from '../../fake/linear/faults.ts';
import { type LinearScene, linearScene } from './linear-scene.ts';

function read({ tracker }: LinearScene, id: string): Promise<IssueComments> {
  if (tracker.fetchComments === undefined) throw new Error('Linear has comments');
  return tracker.fetchComments(id);
}

/** Makes Linear answer with these comments. */
function answered(...comments: readonly object[]): Fault {
  const nodes = [{ comments: { nodes: comments, pageInfo: { hasNextPage: false } } }];
  return { kind: 'garbage', body: JSON.stringify({ data: { issues: { nodes } } }) };
}

describe('comments on Linear', () => {
  // @conforms tools.37
  it('have people as authors by id and e-mail, never by display name', async () => {
    const scene = linearScene();
    const { linear } = scene;
    const ada = linear.addUser({ name: 'Ada' });
    const { id } = linear.addIssue();
    linear.addComment({ issue: id, body: 'by a person', user: 'Ada' });
    linear.addComment({ issue: id, body: 'by a bot for a person', user: 'Ada', createAsUser: 'Boss' });
    linear.addComment({ issue: id, body: 'copied from a chat', externalUser: 'ada@example.com' });
    linear.addComment({ issue: id, body: 'copied, with a user', user: 'Ada', externalUser: 'Grace' });
    linear.addComment({ issue: id, body: 'by nobody' });
    const { comments } = await read(scene, id);
    expect(comments).toMatchObject([
      { body: 'by a person', author: 'Ada', authorNames: [ada.id, 'ada@example.com'] },
      { body: 'by a bot for a person', author: 'Boss', authorNames: [] },
      { body: 'copied from a chat', author: 'ada@example.com', authorNames: [] },
      { body: 'copied, with a user', author: 'Grace', authorNames: [] },
      { body: 'by nobody', author: null, authorNames: [] },
    ]);
    expect(linear.complaints).toEqual([]);
  });

  it('of an agent belong to the owner of the key, whom the workflow file may name', async () => {
    const scene = linearScene();
    const { id } = scene.linear.addIssue();
    await scene.tracker.changes?.addComment(id, 'done', { kind: 'run', runId: 'run-1' });
    expect((await read(scene, id)).comments).toMatchObject([
      { author: 'Someone', authorNames: [scene.linear.records.viewerId, 'someone@example.com'] },
    ]);
  });

  // @conforms tools.38
  it('cost one request for any number of comments, counted as a request of an agent', async () => {
    const scene = linearScene();
    const { id } = scene.linear.addIssue();
    for (let number = 0; number < 300; number += 1) {
      scene.linear.addComment({ issue: id, body: `${number}` });
      await scene.clock.advance(1);
    }
    const { comments, hasEarlier } = await read(scene, id);
    expect([comments.length, comments[0]?.body, comments.at(-1)?.body, hasEarlier]).toEqual([50, '250', '299', true]);
    expect(scene.sent.map(({ job, cause, route }) => `${route} ${job} ${cause}`)).toEqual([
      'BatonIssueComments agent_tools agent',
    ]);
    await scene.tracker.fetchComments?.(id, { caller: { job: 'somebody', cause: 'person' } });
    expect(scene.sent.at(-1)).toMatchObject({ job: 'somebody', cause: 'person' });
  });

  it('do not exist for an issue outside of the project or in the archive', async () => {
    const scene = linearScene();
    scene.linear.addProject({ slugId: 'other' });
    const elsewhere = scene.linear.addIssue({ project: 'other' });
    const archived = scene.linear.addIssue();
    for (const { id } of [elsewhere, archived]) scene.linear.addComment({ issue: id, body: 'secret' });
    scene.linear.archive(archived.id);
    for (const { id } of [elsewhere, archived]) {
      await expect(read(scene, id)).rejects.toMatchObject({ code: 'tracker_issue_not_found' });
    }
    const before = scene.linear.requests.length;
    await expect(read(scene, 'no-uuid')).rejects.toMatchObject({ code: 'tracker_issue_not_found' });
    expect(scene.linear.requests).toHaveLength(before);
  });

  it.each<[string, Fault, string]>([
    ['a status', { kind: 'status', status: 502 }, 'tracker_status'],
    ['errors extra data', { kind: 'graphql_errors', data: 'whole' }, 'tracker_response'],
    ['garbage', { kind: 'garbage' }, 'tracker_response'],
    ['a limit', { kind: 'rate_limit' }, 'tracker_rate_limited'],
    [
      'a comment without words',
      answered({ body: null, createdAt: null, user: null, botActor: null, externalUser: null }),
      'tracker_response',
    ],
    ['a comment of which Linear does not tell whether a bot wrote it', answered({ body: 'x' }), 'tracker_response'],
  ])('fail the read after %s, without a second request', async (_what, fault, code) => {
    const scene = linearScene();
    const { id } = scene.linear.addIssue();
    scene.linear.addComment({ issue: id, body: 'x' });
    scene.linear.faults.next.push(fault);
    await expect(read(scene, id)).rejects.toMatchObject({ code });
    expect(scene.linear.requests).toHaveLength(1);
  });

  it('with a malformed author have no author', async () => {
    const scene = linearScene();
    const { id } = scene.linear.addIssue();
    const nobody = { body: 'y', createdAt: null, user: null, botActor: null, externalUser: null };
    const odd = { ...nobody, body: 'x', createdAt: 'yesterday', user: { id: 7, email: {}, displayName: [] } };
    scene.linear.faults.next.push(answered(odd, nobody));
    expect((await read(scene, id)).comments).toEqual([
      { author: null, authorNames: [], at: null, body: 'y', leftOut: 0 },
      { author: null, authorNames: [], at: null, body: 'x', leftOut: 0 },
    ]);
  });
});
