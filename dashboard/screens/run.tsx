import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { StreamEvent } from '../../src/client/schema/event.ts';
import type { IssueDetail } from '../../src/client/schema/issue.ts';
import type { RunDetail } from '../../src/client/schema/run.ts';
import { projectPath } from '../data/connection/api.ts';
import { projects } from '../data/connection/live.ts';
import { useResource } from '../data/connection/resource.ts';
import { createIssueNews } from '../data/issue/issue-news.ts';
import { now } from '../data/page/clock.ts';
import { issueHref, runHref } from '../data/page/router.ts';
import { createRunNews } from '../data/run/run-news.ts';
import { DiffView } from '../parts/diff/diff-view.tsx';
import { OpenQuestions } from '../parts/issue/issue-questions.tsx';
import { RunCommands } from '../parts/run/run-commands.tsx';
import { RunEvents } from '../parts/run/run-events.tsx';
import { RunOutcome, RunSide } from '../parts/run/run-process.tsx';
import { RunPrompt } from '../parts/run/run-prompt.tsx';
import { RunSteps } from '../parts/run/run-steps.tsx';
import { RunTools } from '../parts/run/run-tools.tsx';
import { attemptWords, outcomeOf } from '../parts/run/run-words.ts';
import { Transcript } from '../parts/run/transcript.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { MissingPage } from '../parts/shared/missing-page.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Status } from '../parts/shared/status.tsx';
import { Tabs } from '../parts/shared/tabs.tsx';
import { Text } from '../parts/shared/text.tsx';
import type { ScreenProps } from './index.ts';

/** One run: its steps, its facts, everything that its agent said and did, and its prompts. */
export function RunScreen({ params: { project = '', run = '' } }: ScreenProps): VNode {
  return <RunOf key={`${project}/${run}`} project={project} runId={run} />;
}

interface RunOfProps {
  readonly project: string;
  readonly runId: string;
}

function RunOf({ project, runId }: RunOfProps): VNode {
  const isNews = useMemo(() => createRunNews(project, runId, () => now.peek()), [project, runId]);
  const { resource } = useResource<RunDetail>(projectPath(project, 'runs', runId), isNews);
  const { value, problem } = resource.value;
  return (
    <div class="screen run-screen">
      {value === null && problem !== null && <MissingPage what="run" name={runId} problem={problem} />}
      {value === null && problem === null && (
        <>
          <h1 tabIndex={-1}>Run</h1>
          <EmptyLine isAsking>Loading the run.</EmptyLine>
        </>
      )}
      {value !== null && problem !== null && <ProblemLine problem={problem} />}
      {value !== null && <RunPage project={project} run={value} />}
    </div>
  );
}

function RunPage({ project, run }: { readonly project: string; readonly run: RunDetail }): VNode {
  const facts = { project, runId: run.run_id, isLive: run.outcome === null };
  const tools = run.spans.filter(({ kind }) => kind === 'tool').length;
  const isNews = useMemo(
    (): ((event: StreamEvent) => boolean) => createRunNews(project, run.run_id, () => now.peek()),
    [project, run.run_id],
  );
  const isIssueNews = useMemo(
    () => createIssueNews(project, run.issue_id, projects.peek()?.get(project)),
    [project, run.issue_id],
  );
  const { resource } = useResource<IssueDetail>(projectPath(project, 'issues', run.issue_id), isIssueNews);
  const issue = resource.value.value;
  return (
    <>
      <div class="run-page">
        <div class="issue-main">
          <RunHeading project={project} run={run} issue={issue} />
          {run.outcome === null && issue !== null && <OpenQuestions project={project} issue={issue} />}
          <RunCommands project={project} run={run} issue={issue} />
          <RunOutcome run={run} />
          <RunSteps run={run} />
        </div>
        <RunSide run={run} />
      </div>
      <h2 class="unseen">Details</h2>
      <Tabs
        label="About the run"
        tabs={[
          { name: 'transcript', label: 'Transcript', content: () => <Transcript {...facts} /> },
          { name: 'events', label: 'Events', content: () => <RunEvents {...facts} /> },
          { name: 'tools', label: 'Tool calls', count: tools, content: () => <RunTools run={run} /> },
          {
            name: 'diff',
            label: 'Diff',
            content: () => <DiffView path={projectPath(project, 'runs', run.run_id, 'diff')} changesWith={isNews} />,
          },
          {
            name: 'prompt',
            label: 'Prompt',
            content: () => <RunPrompt project={project} runId={run.run_id} changesWith={isNews} />,
          },
        ]}
      />
    </>
  );
}

interface RunHeadingProps {
  readonly project: string;
  readonly run: RunDetail;
  readonly issue: IssueDetail | null;
}

/** The title of the issue, and which of its runs this is. */
function RunHeading({ project, run, issue }: RunHeadingProps): VNode {
  const { issue_identifier: identifier, run_id } = run;
  // The newest first.
  const index = issue?.runs.findIndex((each) => each.run_id === run_id) ?? -1;
  const [later, earlier] = index === -1 ? [] : [issue?.runs[index - 1], issue?.runs[index + 1]];
  return (
    <header class="issue-heading">
      <p class="over-title">
        <a href={issueHref(project, identifier)}>
          <Text text={identifier} />
        </a>
        <span>
          {attemptWords(run) === 'first' ? 'first run' : attemptWords(run)} · <Status {...outcomeOf(run)} />
        </span>
        {earlier !== undefined && (
          <a href={runHref(project, earlier.run_id)} data-part="earlier_run">
            ← Earlier run
          </a>
        )}
        {later !== undefined && (
          <a href={runHref(project, later.run_id)} data-part="later_run">
            Later run →
          </a>
        )}
      </p>
      <h1 tabIndex={-1}>
        <a href={issueHref(project, identifier)}>
          <span class="unseen">
            <Text text={identifier} />{' '}
          </span>
          <Text text={issue?.title ?? identifier} />
        </a>
      </h1>
    </header>
  );
}
