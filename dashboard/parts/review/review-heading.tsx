import type { VNode } from 'preact';
import type { PullDetail } from '../../../src/client/schema/pull.ts';
import { judgeWords } from '../../../src/core/pull/judge.ts';
import { governingText } from '../../../src/core/run/governing-files.ts';
import { issueHref } from '../../data/page/router.ts';
import { plainWords } from '../../data/text/words.ts';
import { Cost, Tokens } from '../costs/amount.tsx';
import { authorWords } from '../issue/issue-history.tsx';
import { Fact } from '../shared/fact.tsx';
import { Status, type Tone } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';
import { TimeAgo } from '../shared/time.tsx';
import { OpenInEditor } from './open-in-editor.tsx';

const tones: Readonly<Record<PullDetail['status'], Tone>> = {
  in_review: 'needs',
  approved: 'needs',
  sent_back: 'waiting',
  merged: 'good',
  closed: 'waiting',
};

/** The name of the change, its state and its facts. */
export function ReviewHeading({ project, pull }: { readonly project: string; readonly pull: PullDetail }): VNode {
  const { number, title, status, branch, base, head, usage, standing_since, merge, judge, issue_identifier, url } =
    pull;
  const mark = governingText(pull.governing);
  return (
    <header class="issue-heading">
      <h1 tabIndex={-1}>
        <span class="identifier">#{number}</span> <Text text={title} />
      </h1>
      <dl class="line-of-facts">
        <Fact name="issue">
          <a href={issueHref(project, issue_identifier)}>
            <Text text={issue_identifier} />
          </a>
        </Fact>
        <Fact name="status">
          <Status tone={tones[status]} word={plainWords(status)} />
        </Fact>
        <Fact name="branch">
          <code>
            <Text text={branch} />
          </code>{' '}
          into{' '}
          <code>
            <Text text={base} />
          </code>{' '}
          at <code>{head.slice(0, 10)}</code>
        </Fact>
        {url !== null && /^https?:/u.test(url) && (
          <Fact name="pull request">
            <a href={url} target="_blank" rel="noopener noreferrer">
              Open
            </a>
          </Fact>
        )}
        {merge !== null && (
          <Fact name="merge">
            <Text text={merge.text === '' ? 'no conflicts' : merge.text} />
            {merge.files.length > 0 && (
              <>
                {' '}
                <Text text={merge.files.join(', ')} />
              </>
            )}
          </Fact>
        )}
        {judge !== null && <Fact name="judge">{judgeWords(judge, pull.rounds.at(-1)?.verdicts ?? [])}</Fact>}
        {mark !== null && (
          <Fact name="read before you merge">
            <span class="status needs">
              <Text text={mark} />
            </span>
          </Fact>
        )}
        {(['approved', 'sent_back', 'merged', 'closed'] as const).map((name) => {
          const decided = pull[name];
          return (
            decided !== null && (
              <Fact key={name} name={plainWords(name)}>
                <TimeAgo at={decided.at} /> by {authorWords(decided.by)}
              </Fact>
            )
          );
        })}
        <Fact name="this commit since">
          <TimeAgo at={standing_since} />
        </Fact>
        <Fact name="tokens">
          <Tokens count={usage.total_tokens} />
        </Fact>
        <Fact name="cost">
          <Cost of={usage} />
        </Fact>
      </dl>
      <OpenInEditor pull={pull} />
    </header>
  );
}
