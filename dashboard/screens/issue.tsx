import type { VNode } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { IssueDetail } from '../../src/client/schema/issue.ts';
import type { Diff } from '../../src/client/schema/run.ts';
import { projectPath } from '../data/connection/api.ts';
import { projects } from '../data/connection/live.ts';
import { useResource } from '../data/connection/resource.ts';
import { createIssueNews } from '../data/issue/issue-news.ts';
import { queryWord } from '../data/page/router.ts';
import { DiffContent } from '../parts/diff/diff-view.tsx';
import { IssueCommands } from '../parts/issue/issue-commands.tsx';
import { IssueComments } from '../parts/issue/issue-comments.tsx';
import { IssueCost } from '../parts/issue/issue-cost.tsx';
import { IssueDescription } from '../parts/issue/issue-description.tsx';
import { IssueHeading } from '../parts/issue/issue-heading.tsx';
import { IssueHistory } from '../parts/issue/issue-history.tsx';
import { IssueLive } from '../parts/issue/issue-live.tsx';
import { IssueMessages } from '../parts/issue/issue-messages.tsx';
import { IssuePlan } from '../parts/issue/issue-plan.tsx';
import { OpenQuestions, PastQuestions } from '../parts/issue/issue-questions.tsx';
import { ReviewBar } from '../parts/issue/issue-review-bar.tsx';
import { useIssueRuns } from '../parts/issue/issue-runs.tsx';
import { IssueSide } from '../parts/issue/issue-side.tsx';
import { TakenOver } from '../parts/issue/issue-takeover.tsx';
import { IssueTranscript } from '../parts/issue/issue-transcript.tsx';
import { IssueWhy } from '../parts/issue/issue-why.tsx';
import { decidesPhase, IssuePipeline } from '../parts/pipeline/issue-pipeline.tsx';
import { Waterfall } from '../parts/run/waterfall.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { MissingPage } from '../parts/shared/missing-page.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Tabs } from '../parts/shared/tabs.tsx';
import { Text } from '../parts/shared/text.tsx';
import type { ScreenProps } from './index.ts';

/** One issue: what is asked and said about it, its properties, its runs, and the possible actions. */
export function IssueScreen({ params: { project = '', id = '' } }: ScreenProps): VNode {
  return <IssueOf key={`${project}/${id}`} project={project} id={id} />;
}

interface IssueOfProps {
  readonly project: string;
  readonly id: string;
}

function IssueOf({ project, id }: IssueOfProps): VNode {
  const isNews = useMemo(() => createIssueNews(project, id, projects.peek()?.get(project)), [project, id]);
  const { resource } = useResource<IssueDetail>(projectPath(project, 'issues', id), isNews);
  const { value, problem } = resource.value;
  return (
    <div class="screen issue-screen">
      {value === null && problem !== null && <MissingPage what="issue" name={id} problem={problem} />}
      {value === null && problem === null && (
        <>
          <h1 tabIndex={-1}>
            <Text text={id} />
          </h1>
          <EmptyLine isAsking>Loading the issue.</EmptyLine>
        </>
      )}
      {value !== null && problem !== null && <ProblemLine problem={problem} />}
      {value !== null && <IssuePage project={project} issue={value} />}
    </div>
  );
}

function IssuePage({ project, issue }: { readonly project: string; readonly issue: IssueDetail }): VNode {
  const { runs, more } = useIssueRuns(project, issue);
  const diff = useIssueDiff(project, issue);
  // What is asked comes first, unless a person has to decide about an artifact. With its key it moves and is not made again.
  const decides = decidesPhase(issue);
  const pipeline = <IssuePipeline key="pipeline" project={project} issue={issue} />;
  return (
    <>
      <div class="issue-page">
        <div class="issue-main">
          <IssueHeading issue={issue} />
          <IssueWhy project={project} issue={issue} />
          <OpenQuestions project={project} issue={issue} />
          <ReviewBar project={project} issue={issue} />
          {decides && pipeline}
          <IssuePlan project={project} issue={issue} />
          <IssueCommands project={project} issue={issue} />
          <TakenOver project={project} issue={issue} />
          <IssueDescription text={issue.description} />
          <IssueLive project={project} issue={issue} />
          {!decides && pipeline}
          <IssueComments project={project} issue={issue} />
        </div>
        <IssueSide project={project} issue={issue} diff={diff.resource.value.value} />
      </div>
      <Tabs
        label="About the issue"
        tabs={[
          {
            name: 'timeline',
            label: 'Timeline',
            // The usage counts runs that ended.
            count: Math.max(issue.usage.runs, runs.length),
            content: () => (
              <section aria-label="Timeline of attempts">
                {runs.length === 0 ? (
                  <EmptyLine>No runs yet.</EmptyLine>
                ) : (
                  <Waterfall project={project} issue={issue} runs={runs} />
                )}
                {more}
              </section>
            ),
          },
          {
            name: 'transcript',
            label: 'Transcript',
            content: () => <IssueTranscript project={project} runs={runs} more={more} />,
          },
          {
            name: 'diff',
            label: 'Diff',
            content: () => <DiffContent read={diff} />,
          },
          {
            name: 'questions',
            label: 'Questions',
            count: issue.questions.length,
            content: () => <PastQuestions issue={issue} />,
          },
          {
            name: 'messages',
            label: 'Messages',
            count: issue.messages.filter(({ status }) => status === 'waiting').length,
            content: () => <IssueMessages project={project} issue={issue} />,
          },
          {
            name: 'history',
            label: 'History',
            count: issue.history.length + issue.comments.length,
            content: () => <IssueHistory issue={issue} />,
          },
          {
            name: 'cost',
            label: 'Cost',
            content: () => (
              <>
                <IssueCost project={project} usage={issue.usage} runs={runs} />
                {more}
              </>
            ),
          },
        ]}
      />
    </>
  );
}

/**
 * The change of the issue, for its size and for its tab. It is read when a run ends and, while the tab is open, with every
 * other change: the daemon runs git for it.
 */
function useIssueDiff(project: string, issue: IssueDetail): ReturnType<typeof useResource<Diff>> {
  const { id, runs, pull } = issue;
  const isShown = queryWord('tab') === 'diff';
  const isNews = useMemo(() => createIssueNews(project, id, projects.peek()?.get(project)), [project, id]);
  const path = isShown || runs.length > 0 ? projectPath(project, 'issues', id, 'diff') : null;
  const diff = useResource<Diff>(path, (event) => isNews(event) && isShown);
  useEffect(() => {
    if (diff.resource.peek().value !== null) diff.reload();
  }, [runs[0]?.ended_at, pull?.status, isShown]);
  return diff;
}
