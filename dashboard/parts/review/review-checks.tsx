import type { VNode } from 'preact';
import type { PullDetail } from '../../../src/client/schema/pull.ts';
import { ActionButton } from '../shared/action-button.tsx';
import { EmptyLine } from '../shared/empty-line.tsx';
import { Status, type Tone } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';
import { Duration } from '../shared/time.tsx';
import { reviewSpot } from './review-decision.tsx';

type Check = PullDetail['rounds'][number]['checks'][number];

const tones: Readonly<Record<string, Tone>> = { passed: 'good', failed: 'broken', timed_out: 'broken' };

/** The checks of the commit that is in review, each with the end of its output. */
export function ReviewChecks({ project, pull }: { readonly project: string; readonly pull: PullDetail }): VNode {
  const { number, head, status, rounds, issue_identifier: issue } = pull;
  const checks = rounds.at(-1)?.checks ?? [];
  const isOpen = status === 'in_review' || status === 'approved';
  return (
    <section aria-label="Checks">
      <h2>Checks</h2>
      {checks.length === 0 ? (
        <EmptyLine>No checks are set (review.checks).</EmptyLine>
      ) : (
        <ul class="review-checks">
          {checks.map((check) => (
            <li key={check.name}>
              <CheckRow check={check} />
              {isOpen && check.result !== null && (
                <ActionButton
                  spot={reviewSpot(project, pull)}
                  request={{ kind: 'pr_check', pull: number, head, name: check.name }}
                  label="Run again"
                  name={`Run again: the check ${check.name} of ${issue}`}
                  hint="Run this check again on the same commit"
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {pull.at_host !== null && <HostSays host={pull.at_host} />}
    </section>
  );
}

/** What checks and people say where the change is reviewed; the words of those who may not write reach no agent. */
function HostSays({ host }: { readonly host: NonNullable<PullDetail['at_host']> }): VNode {
  return (
    <ul class="review-checks" aria-label="At its host">
      {host.checks.map(({ name, result, is_required }) => (
        <li key={`check ${name}`}>
          <Status tone={tones[result ?? ''] ?? 'waiting'} word={result ?? 'waiting'} /> <Text text={name} />
          {is_required && <small> required</small>}
        </li>
      ))}
      {host.reviews.map(({ author, is_trusted, verdict, body, path, line, at }) => (
        <li key={`review ${author} ${at} ${path ?? ''} ${line ?? ''}`}>
          <strong>
            <Text text={author} />
          </strong>{' '}
          <small>
            {verdict.replace('_', ' ')}
            {!is_trusted && ', may not write to the repository'}
          </small>{' '}
          {path !== null && (
            <code>
              <Text text={`${path}${line === null ? '' : `:${line}`}`} />
            </code>
          )}{' '}
          <Text text={body} />
        </li>
      ))}
    </ul>
  );
}

function CheckRow({
  check: { name, command, result, exit_code, output, started_at, ended_at },
}: {
  readonly check: Check;
}): VNode {
  const stage = started_at === null ? 'waiting' : 'running';
  const head = (
    <>
      <Status tone={result === null ? stage : (tones[result] ?? 'waiting')} word={result ?? stage} />{' '}
      <Text text={name} />{' '}
      {command !== name && (
        <code>
          <Text text={command} />{' '}
        </code>
      )}
      {started_at !== null && (
        <small>
          <Duration from={started_at} to={ended_at} />
        </small>
      )}
      {exit_code !== null && exit_code !== 0 && <small> exit code {exit_code}</small>}
    </>
  );
  if (output === null || output.trim() === '') return <p>{head}</p>;
  return (
    <details open={result === 'failed' || result === 'timed_out'}>
      <summary>{head}</summary>
      <pre>
        <Text text={output} lines />
      </pre>
    </details>
  );
}
