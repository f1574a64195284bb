import type { VNode } from 'preact';
import type { NeedsYou } from '../../../src/client/schema/now.ts';
import { type KeptRow, offeredNow } from '../../data/issue/issue-rows.ts';
import { questionOf } from '../../data/issue/questions.ts';
import { issueHref, reviewHref } from '../../data/page/router.ts';
import { projectActionsNamed } from '../../data/text/command-words.ts';
import { AnswerForm } from '../issue/answer-form.tsx';
import { issueSpot, useIssueActions } from '../issue/issue-actions.tsx';
import { ActionButton } from '../shared/action-button.tsx';
import type { Tone } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';
import { TimeAgo } from '../shared/time.tsx';
import { Row } from './row.tsx';

const words: Readonly<Record<NeedsYou['kind'], { readonly word: string; readonly tone: Tone }>> = {
  question: { word: 'question', tone: 'needs' },
  held: { word: 'held', tone: 'needs' },
  limit: { word: 'limit', tone: 'needs' },
  review: { word: 'review', tone: 'needs' },
  account: { word: 'account', tone: 'broken' },
  workflow: { word: 'workflow', tone: 'needs' },
  daemon: { word: 'daemon', tone: 'broken' },
};

/** Something that waits for a person: what, since when, and the actions for it. */
export function NeedsYouRow({ placed, place, isGone }: KeptRow<NeedsYou>): VNode {
  const { project, row } = placed;
  const spot = issueSpot(project, row.issue_id ?? row.key, `${row.key} ${row.since}`, place);
  const question = questionOf(row);
  const { buttons, below } = useIssueActions({
    spot,
    place,
    issue: row,
    actions: isGone && row.issue_id !== null ? offeredNow(project, row.issue_id) : row.actions,
    hasMain: question === null && row.kind !== 'review',
    run: row.kind === 'question' ? (row.run_id ?? undefined) : undefined,
    isGone,
  });
  return (
    <Row
      project={project}
      row={row}
      isGone={isGone}
      {...words[row.kind]}
      time={row.since !== null && <TimeAgo at={row.since} />}
      what={
        question === null && (
          <p>
            <Text text={row.reason} lines />
          </p>
        )
      }
      actions={
        <div class="actions">
          {row.kind === 'review' && <ReviewLinks project={project} row={row} />}
          {buttons}
          {row.issue_id === null &&
            projectActionsNamed(row.actions).map(({ label, confirm, request }) => (
              <ActionButton
                key={label}
                confirm={confirm}
                request={request(row)}
                spot={spot}
                label={label}
                name={`${label} ${project}`}
                isMain
              />
            ))}
        </div>
      }
      below={
        <>
          {question !== null && <AnswerForm question={question} spot={spot} place={place} isOpen={!isGone} />}
          {below}
        </>
      }
    />
  );
}

function ReviewLinks({ project, row }: { readonly project: string; readonly row: NeedsYou }): VNode {
  const href =
    row.pull === undefined ? issueHref(project, row.issue_identifier ?? '') : reviewHref(project, String(row.pull));
  return (
    <div class="actions">
      <a class="button main" href={href}>
        Review
      </a>
      {row.issue_url !== null && /^https?:/u.test(row.issue_url) && (
        <a class="button" href={row.issue_url} target="_blank" rel="noopener noreferrer">
          Open in tracker
        </a>
      )}
    </div>
  );
}
