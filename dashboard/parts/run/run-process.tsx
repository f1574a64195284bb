import type { VNode } from 'preact';
import type { RunDetail } from '../../../src/client/schema/run.ts';
import { countWords, plainWords } from '../../data/text/words.ts';
import { Cost } from '../costs/amount.tsx';
import { UsageFacts } from '../issue/issue-cost.tsx';
import { CopyLine } from '../issue/issue-takeover.tsx';
import { Fact } from '../shared/fact.tsx';
import { Status } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';
import { ClockTime, Duration } from '../shared/time.tsx';
import { agentReasonWords, attemptWords, outcomeOf } from './run-words.ts';

/** The facts of a run: its process, its workspace, its outcome and its usage. */
export function RunProcess({ run }: { readonly run: RunDetail }): VNode {
  const { word, tone } = outcomeOf(run);
  return (
    <>
      <dl class="line-of-facts">
        <Fact name="outcome">
          <Status tone={tone} word={word} />
        </Fact>
        <Fact name="started as">{attemptWords(run)}</Fact>
        <Fact name="started">
          <ClockTime at={run.started_at} />
        </Fact>
        <Fact name={run.ended_at === null ? 'running for' : 'lasted'}>
          <Duration from={run.started_at} to={run.ended_at} />
        </Fact>
        <Fact name="turns">{run.turns}</Fact>
        <Fact name="cost">
          <Cost of={run.usage} />
        </Fact>
        <UsageFacts usage={run.usage} />
      </dl>
      <Outcome run={run} />
      <dl class="run-process">
        <Fact name="Process">
          {run.pid === null ? 'no process' : `pid ${run.pid}`} on <Text text={run.host} />
        </Fact>
        <Fact name="Agent">
          <Text text={[run.backend, run.account ?? ''].join(' ')} />, <Text text={run.role} />
          {run.agent !== 'default' && (
            <>
              , <Text text={run.agent} /> ({agentReasonWords[run.agent_reason]})
            </>
          )}
          {run.recovery !== null && (
            <>
              , context recovery: <Text text={plainWords(run.recovery)} />
            </>
          )}
        </Fact>
        <Fact name="Session">
          {run.session_id === null ? <span class="none">none</span> : <CopyLine name="session" text={run.session_id} />}
        </Fact>
        <Fact name="Workspace">
          {run.workspace_path === null ? (
            <span class="none">none</span>
          ) : (
            <CopyLine name="path" text={run.workspace_path} />
          )}
        </Fact>
        {run.resume_command !== null && (
          <Fact name="Continue by hand">
            <CopyLine name="command" text={run.resume_command} />
          </Fact>
        )}
      </dl>
    </>
  );
}

/** The outcome and its evidence, in words. */
function Outcome({ run }: { readonly run: RunDetail }): VNode {
  const { error_message, error_code, evidence, publication, last_message } = run;
  const git = evidence?.git ?? null;
  return (
    <div class={`tone ${outcomeOf(run).tone} said-why`}>
      {error_message !== null && (
        <p>
          <Text text={error_message} lines /> {error_code !== null && <code>{error_code}</code>}
        </p>
      )}
      {evidence !== null && (
        <p>
          <Text text={evidence.text} lines />
          {git !== null && <small> {gitWords(git)}</small>}
        </p>
      )}
      {evidence === null && run.outcome !== null && (
        <p class="quiet-text">Baton did not examine the workspace after this run.</p>
      )}
      {publication !== null && (
        <p>
          <Text text={publication} lines />
        </p>
      )}
      {last_message !== null && (
        <p>
          Last message: <Text text={last_message} />
        </p>
      )}
      {error_message === null && evidence === null && last_message === null && run.outcome === null && (
        <p>The run is in progress.</p>
      )}
    </div>
  );
}

type Git = NonNullable<NonNullable<RunDetail['evidence']>['git']>;

function gitWords({ branch, ahead, changed, untracked, conflicts }: Git): VNode {
  const parts = [
    ...(ahead === null ? [] : [countWords(ahead, 'commit ahead', 'commits ahead')]),
    `${changed} changed`,
    `${untracked} untracked`,
    ...(conflicts > 0 ? [countWords(conflicts, 'conflict', 'conflicts')] : []),
  ];
  return (
    <>
      {branch !== null && (
        <>
          <Text text={branch} />:{' '}
        </>
      )}
      {parts.join(', ')}
    </>
  );
}
