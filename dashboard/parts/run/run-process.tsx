import type { VNode } from 'preact';
import type { RunDetail } from '../../../src/client/schema/run.ts';
import { countWords, plainWords, sentences } from '../../data/text/words.ts';
import { Cost, Tokens } from '../costs/amount.tsx';
import { CopyLine } from '../issue/issue-takeover.tsx';
import { Fact } from '../shared/fact.tsx';
import { Markdown } from '../shared/markdown.tsx';
import { Status } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';
import { ClockTime, Duration } from '../shared/time.tsx';
import { agentReasonWords, attemptWords, outcomeOf } from './run-words.ts';

/** The facts of a run, in a column at the side: its outcome, its usage, its agent and its process. */
export function RunSide({ run }: { readonly run: RunDetail }): VNode {
  const { word, tone } = outcomeOf(run);
  return (
    <aside class="run-side" aria-label="Facts of the run">
      <dl class="properties">
        <Fact name="Outcome">
          <Status tone={tone} word={word} />
        </Fact>
        <Fact name="Started">
          <ClockTime at={run.started_at} /> <small>{attemptWords(run)}</small>
        </Fact>
        <Fact name={run.ended_at === null ? 'Running for' : 'Duration'}>
          <Duration from={run.started_at} to={run.ended_at} />
        </Fact>
        <Fact name="Turns">{run.turns}</Fact>
        <Fact name="Cost">
          <Cost of={run.usage} />
        </Fact>
        <Fact name="Tokens">
          <Tokens count={run.usage.total_tokens} />
          {run.usage.total_tokens > 0 && (
            <small class="token-parts">
              <Tokens count={run.usage.input_tokens} /> in, <Tokens count={run.usage.cached_input_tokens} /> cached,{' '}
              <Tokens count={run.usage.output_tokens} /> out, <Tokens count={run.usage.reasoning_tokens} /> reasoning
            </small>
          )}
        </Fact>
        <Fact name="Agent">
          <Text text={run.agent === 'default' ? run.backend : `${run.agent} (${run.backend})`} />
          {run.account !== null && (
            <small>
              {' '}
              account <Text text={run.account} />
            </small>
          )}
          {run.agent_reason !== 'default' && (
            <small data-part="agent_reason" data-code={run.agent_reason}>
              {' '}
              {agentReasonWords[run.agent_reason]}
            </small>
          )}
          {run.recovery !== null && (
            <small>
              {' '}
              context recovery: <Text text={plainWords(run.recovery)} />
            </small>
          )}
        </Fact>
        <Fact name="Role">
          <Text text={run.role} />
        </Fact>
        <Fact name="Process">
          {run.pid === null ? 'none' : `pid ${run.pid}`} on <Text text={run.host} />
        </Fact>
      </dl>
      <dl class="properties places">
        {run.workspace_path !== null && (
          <Fact name="Workspace">
            <CopyLine name="path" text={run.workspace_path} />
          </Fact>
        )}
        {run.session_id !== null && (
          <Fact name="Session">
            <CopyLine name="session" text={run.session_id} />
          </Fact>
        )}
        {run.resume_command !== null && (
          <Fact name="Continue by hand">
            <CopyLine name="command" text={run.resume_command} />
          </Fact>
        )}
        <Fact name="Run">
          <CopyLine name="run" text={run.run_id} />
        </Fact>
        {run.error_code !== null && (
          <Fact name="Error code">
            <code>{run.error_code}</code>
          </Fact>
        )}
      </dl>
    </aside>
  );
}

/** The last words of the agent, and what the run left. */
export function RunOutcome({ run }: { readonly run: RunDetail }): VNode | null {
  const { error_message, evidence, publication, last_message, outcome } = run;
  const git = evidence?.git ?? null;
  // The step that failed shows the error itself.
  const isErrorBelow = run.spans.some(({ kind, is_ok }) => kind !== 'tool' && kind !== 'question' && is_ok === false);
  const error = isErrorBelow ? null : error_message;
  if (error === null && evidence === null && last_message === null && outcome === null) return null;
  return (
    <div class={`tone ${outcomeOf(run).tone} said-why`}>
      {error !== null && (
        <p>
          <Text text={error} lines />
        </p>
      )}
      {last_message !== null && <Markdown source={last_message} />}
      {evidence === null && outcome !== null && (
        <p class="quiet-text">Baton did not examine the workspace after this run.</p>
      )}
      {(evidence !== null || publication !== null) && (
        <p class="quiet-text">
          {evidence !== null && <Text text={sentences(evidence.text)} lines />}
          {git !== null && (git.changed > 0 || git.conflicts > 0) && <> {gitWords(git)}</>}
          {publication !== null && (
            <>
              {' '}
              <Text text={sentences(publication)} lines />
            </>
          )}
        </p>
      )}
    </div>
  );
}

type Git = NonNullable<NonNullable<RunDetail['evidence']>['git']>;

function gitWords({ changed, conflicts }: Git): string {
  const parts = [
    countWords(changed, 'file is changed and not committed', 'files are changed and not committed'),
    ...(conflicts > 0 ? [countWords(conflicts, 'conflict', 'conflicts')] : []),
  ];
  return sentences(parts.join(', '));
}
