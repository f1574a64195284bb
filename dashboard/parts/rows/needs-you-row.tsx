import type { VNode } from 'preact';
import type { NeedsYou } from '../../../src/client/schema/now.ts';
import { projects } from '../../data/connection/live.ts';
import { type KeptRow, offeredNow, runningActions } from '../../data/issue/issue-rows.ts';
import { questionOf } from '../../data/issue/questions.ts';
import { issueHref, reviewHref } from '../../data/page/router.ts';
import { projectActionsNamed } from '../../data/text/command-words.ts';
import { reasonWords } from '../../data/text/gate-words.ts';
import { sentences } from '../../data/text/words.ts';
import { AnswerForm } from '../issue/answer-form.tsx';
import { issueSpot, useIssueActions } from '../issue/issue-actions.tsx';
import { ActionButton } from '../shared/action-button.tsx';
import type { Tone } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';
import { TimeAgo } from '../shared/time.tsx';
import { hint } from '../shared/tooltip.tsx';
import { PhaseOfRow } from './phase-of-row.tsx';
import { Row } from './row.tsx';
import { WatchLink } from './watch-link.tsx';

const words: Readonly<Record<NeedsYou['kind'], { readonly word: string; readonly tone: Tone }>> = {
  question: { word: 'question', tone: 'needs' },
  held: { word: 'held', tone: 'needs' },
  limit: { word: 'limit', tone: 'needs' },
  review: { word: 'review', tone: 'needs' },
  account: { word: 'account', tone: 'broken' },
  workflow: { word: 'workflow', tone: 'needs' },
  daemon: { word: 'daemon', tone: 'broken' },
  proposal: { word: 'proposal', tone: 'needs' },
};

/** The hold that asks a person about an artifact. */
const aboutArtifact = 'revisions_exhausted';

/** Something that waits for a person: what, since when, and the actions for it. */
export function NeedsYouRow({ placed, place, isGone }: KeptRow<NeedsYou>): VNode {
  const { project, row } = placed;
  const spot = issueSpot(project, row.issue_id ?? row.key, `${row.key} ${row.since}`, place);
  const question = questionOf(row);
  const { buttons, below } = useIssueActions({
    spot,
    place,
    issue: row,
    actions: isGone && row.issue_id !== null ? offeredNow(project, row.issue_id) : actionsOf(project, row),
    hasMain: question === null && row.kind !== 'review' && row.code !== aboutArtifact,
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
        <>
          <PhaseOfRow phase={row.phase} />
          {question === null && (
            <p>
              <Text text={sentences(reasonWords(row.reason))} lines />
            </p>
          )}
        </>
      }
      actions={
        <div class="actions">
          {row.kind === 'review' && <ReviewLinks project={project} row={row} />}
          {row.kind === 'proposal' && (
            <a class="button main" data-part="read_proposals" href="/tasks" {...hint('Accept or refuse the proposals')}>
              Decide
            </a>
          )}
          {row.code === aboutArtifact && row.issue_identifier !== null && (
            <a
              class="button main"
              data-part="read_artifact"
              href={issueHref(project, row.issue_identifier)}
              {...hint('Read the artifact, then approve it or send it back')}
            >
              Read the artifact
            </a>
          )}
          {buttons}
          {row.kind === 'question' && row.run_id !== null && !isGone && (
            <WatchLink project={project} runId={row.run_id} identifier={row.issue_identifier} />
          )}
          {row.issue_id === null &&
            projectActionsNamed(row.actions).map(({ label, hint: text, confirm, request }) => (
              <ActionButton
                key={label}
                hint={text}
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

/** A run that asks has no other row: what else a person can do with it is here. */
function actionsOf(project: string, row: NeedsYou): readonly string[] {
  const run = row.run_id === null ? undefined : projects.value?.get(project)?.running.get(row.run_id);
  if (row.kind !== 'question' || run === undefined) return row.actions;
  return [...new Set([...runningActions(run), ...row.actions])];
}

function ReviewLinks({ project, row }: { readonly project: string; readonly row: NeedsYou }): VNode {
  const href =
    row.pull === undefined ? issueHref(project, row.issue_identifier ?? '') : reviewHref(project, String(row.pull));
  return (
    <div class="actions">
      <a class="button main" href={href} {...hint('Read the change, then approve it, merge it or send it back')}>
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
