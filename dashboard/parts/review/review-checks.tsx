import type { VNode } from 'preact';
import type { PullDetail } from '../../../src/client/schema/pull.ts';
import { EmptyLine } from '../shared/empty-line.tsx';
import { Status, type Tone } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';
import { Duration } from '../shared/time.tsx';

type Check = PullDetail['rounds'][number]['checks'][number];

const tones: Readonly<Record<string, Tone>> = { passed: 'good', failed: 'broken', timed_out: 'broken' };

/** The checks of the commit that stands in review, each with the end of its output. */
export function ReviewChecks({ rounds }: { readonly rounds: PullDetail['rounds'] }): VNode {
  const checks = rounds.at(-1)?.checks ?? [];
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
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function CheckRow({
  check: { name, command, result, exit_code, output, started_at, ended_at },
}: {
  readonly check: Check;
}): VNode {
  const head = (
    <>
      <Status tone={result === null ? 'running' : (tones[result] ?? 'waiting')} word={result ?? 'running'} />{' '}
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
