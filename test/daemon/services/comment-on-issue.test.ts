import { expect, it } from 'vitest';
import { commentOnIssue } from '../../../src/daemon/services/comment-on-issue.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { settings } from '../../fake/settings.ts';
import { linearScene } from '../../tracker/linear/linear-scene.ts';

const signal = new AbortController().signal;
const body = 'Baton holds this issue since 2026-01-05.\n\n> it failed';

async function scene() {
  const { linear, tracker, clock, operationsOf } = linearScene();
  const store = await scratchStore(clock);
  const project = (await store.projects.ensure('test', 0)).id;
  const comment = commentOnIssue({ settings: () => settings(), trackerFor: () => tracker, store, project, clock });
  return { linear, tracker, store, project, operationsOf, comment, issueId: linear.addIssue().id };
}

it('comments in the name of Baton, and records the comment so that it is never trusted', async () => {
  const { linear, tracker, store, project, operationsOf, comment, issueId } = await scene();
  const write = () => comment({ issueId, body, isRepeated: false, signal });
  expect(await operationsOf(write)).toEqual(['BatonComment']);
  expect(linear.commentsOf(issueId)).toMatchObject([{ body }]);
  const ids = (await tracker.fetchComments?.(issueId))?.comments.flatMap(({ id }) => id ?? []) ?? [];
  expect(await store.runTexts.among(project, 'comment', ids)).toEqual(new Set(ids));
});

it('writes nothing again when an earlier try arrived without an answer', async () => {
  const { linear, operationsOf, comment, issueId } = await scene();
  const again = () => comment({ issueId, body, isRepeated: true, signal });
  expect(await operationsOf(again)).toEqual(['BatonIssueComments', 'BatonComment']);
  expect(await operationsOf(again)).toEqual(['BatonIssueComments']);
  expect(linear.commentsOf(issueId)).toHaveLength(1);
});
