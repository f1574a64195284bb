import type { ComponentChildren, VNode } from 'preact';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import type { Diff } from '../../../src/client/schema/run.ts';
import { harmlessLine } from '../../../src/core/text/harmless-line.ts';
import { issueHref, linkTo, place, reviewHref } from '../../data/page/router.ts';
import { countWords, plainWords } from '../../data/text/words.ts';
import { Cost, Tokens } from '../costs/amount.tsx';
import { CopyButton } from '../shared/copy-button.tsx';
import { Fact } from '../shared/fact.tsx';
import { Text } from '../shared/text.tsx';
import { TimeAgo } from '../shared/time.tsx';
import { StartConditions } from './issue-conditions.tsx';
import { IssueStatus } from './issue-heading.tsx';

interface IssueSideProps {
  readonly project: string;
  readonly issue: IssueDetail;
  /** Its change; null while it is not read. */
  readonly diff: Diff | null;
}

/** The properties of an issue, in a column at the side; on a narrow screen below what is asked. */
export function IssueSide({ project, issue, diff }: IssueSideProps): VNode {
  const { url, priority, labels, blockers, usage } = issue;
  const hasLink = url !== null && /^https?:/u.test(url);
  const newest = issue.runs[0];
  return (
    <aside class="issue-side" aria-label="Properties">
      <dl class="properties">
        <Fact name="State">
          <IssueStatus issue={issue} />
        </Fact>
        {priority !== null && <Fact name="Priority">P{priority}</Fact>}
        {labels.length > 0 && (
          <Fact name="Labels">
            <span class="labels">
              {labels.map((label) => (
                <span key={label} class="label">
                  <Text text={label} />
                </span>
              ))}
            </span>
          </Fact>
        )}
        {blockers.length > 0 && (
          <Fact name="Blocked by">
            <Blockers project={project} blockers={blockers} />
          </Fact>
        )}
        {newest !== undefined && (
          <Fact name="Agent">
            <Text text={newest.agent === 'default' ? newest.backend : `${newest.agent} (${newest.backend})`} />
            {newest.account !== null && (
              <small>
                {' '}
                account <Text text={newest.account} />
              </small>
            )}
          </Fact>
        )}
        <Change project={project} issue={issue} diff={diff} />
        <Fact name="Runs">{Math.max(usage.runs, issue.runs.length)}</Fact>
        <Fact name="Cost">
          <Cost of={usage} />
          {usage.total_tokens > 0 && (
            <small>
              {' '}
              <Tokens count={usage.total_tokens} /> tokens
            </small>
          )}
        </Fact>
        {issue.created_at !== null && (
          <Fact name="Created">
            <TimeAgo at={issue.created_at} />
          </Fact>
        )}
        {issue.updated_at !== null && (
          <Fact name="Changed">
            <TimeAgo at={issue.updated_at} />
          </Fact>
        )}
        {hasLink && (
          <Fact name="Tracker">
            <a
              href={url}
              target="_blank"
              rel="noopener noreferrer"
              aria-label={`Open ${harmlessLine(issue.identifier)} in the issue tracker`}
            >
              Open
            </a>
          </Fact>
        )}
      </dl>
      <StartConditions issue={issue} />
    </aside>
  );
}

function Blockers({
  project,
  blockers,
}: {
  readonly project: string;
  readonly blockers: IssueDetail['blockers'];
}): VNode {
  return (
    <ul>
      {blockers.map((blocker, index) => (
        <li key={blocker.id ?? blocker.identifier ?? index}>
          {blocker.identifier === null ? (
            'another issue'
          ) : (
            <a href={issueHref(project, blocker.identifier)}>
              <Text text={blocker.identifier} />
            </a>
          )}
          {blocker.state !== null && (
            <small>
              {' '}
              <Text text={plainWords(blocker.state)} />
            </small>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The branch, the size of the change on it, and its review. */
function Change({ project, issue, diff }: IssueSideProps): ComponentChildren {
  const { pull, runs } = issue;
  const branch = issue.branch ?? diff?.branch ?? runs[0]?.evidence?.git?.branch ?? null;
  return (
    <>
      {branch !== null && (
        <Fact name="Branch">
          <span class="copy-line">
            <code>
              <Text text={branch} />
            </code>
            <CopyButton text={branch} />
          </span>
        </Fact>
      )}
      {(pull !== null || (diff !== null && diff.files.length > 0)) && (
        <Fact name="Change">
          {pull !== null && (
            <>
              <a href={reviewHref(project, String(pull.number))}>#{pull.number}</a> {plainWords(pull.status)}
            </>
          )}
          {diff !== null && diff.files.length > 0 && (
            <a class="size" href={linkTo(place.value.path, { tab: 'diff' })}>
              <span class="added">+{sumOf(diff, 'added')}</span> <span class="removed">−{sumOf(diff, 'removed')}</span>{' '}
              in {diff.is_cut ? 'more than ' : ''}
              {countWords(diff.files.length, 'file', 'files')}
            </a>
          )}
        </Fact>
      )}
    </>
  );
}

function sumOf({ files }: Diff, side: 'added' | 'removed'): number {
  return files.reduce((sum, file) => sum + (file[side] ?? 0), 0);
}
