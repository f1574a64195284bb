import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { IssueDetail } from '../../src/client/schema/issue.ts';
import { projectPath } from '../data/connection/api.ts';
import { projects } from '../data/connection/live.ts';
import { useResource } from '../data/connection/resource.ts';
import { createIssueNews } from '../data/issue/issue-news.ts';
import { DiffView } from '../parts/diff/diff-view.tsx';
import { IssueCommands } from '../parts/issue/issue-commands.tsx';
import { IssueCost } from '../parts/issue/issue-cost.tsx';
import { IssueHeading } from '../parts/issue/issue-heading.tsx';
import { IssueHistory } from '../parts/issue/issue-history.tsx';
import { IssueLive } from '../parts/issue/issue-live.tsx';
import { IssueMessages } from '../parts/issue/issue-messages.tsx';
import { OpenQuestions, PastQuestions } from '../parts/issue/issue-questions.tsx';
import { useIssueRuns } from '../parts/issue/issue-runs.tsx';
import { TakenOver } from '../parts/issue/issue-takeover.tsx';
import { IssueTranscript } from '../parts/issue/issue-transcript.tsx';
import { IssueWhy } from '../parts/issue/issue-why.tsx';
import { Waterfall } from '../parts/run/waterfall.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { Markdown } from '../parts/shared/markdown.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Tabs } from '../parts/shared/tabs.tsx';
import { Text } from '../parts/shared/text.tsx';
import type { ScreenProps } from './index.ts';

/** One issue: why it is in its state, its runs and their outcomes, and the possible actions. */
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
      {value === null && (
        <h1 tabIndex={-1}>
          <Text text={id} />
        </h1>
      )}
      {problem !== null && <ProblemLine problem={problem} />}
      {value === null && problem === null && <EmptyLine isAsking>Loading the issue.</EmptyLine>}
      {value !== null && <IssuePage project={project} issue={value} />}
    </div>
  );
}

function IssuePage({ project, issue }: { readonly project: string; readonly issue: IssueDetail }): VNode {
  const { runs, more } = useIssueRuns(project, issue);
  const isDiffNews = useMemo(
    () => createIssueNews(project, issue.id, projects.peek()?.get(project)),
    [project, issue.id],
  );
  const answered = issue.questions.filter(({ state }) => state !== 'open').length;
  return (
    <>
      <IssueHeading project={project} issue={issue} />
      <IssueCommands project={project} issue={issue} />
      <TakenOver project={project} issue={issue} />
      <OpenQuestions project={project} issue={issue} />
      <div class="issue-now">
        <IssueWhy project={project} issue={issue} />
        <IssueLive project={project} issueId={issue.id} />
        <section aria-label="What is asked">
          <h2>Asked</h2>
          {issue.description === null || issue.description.trim() === '' ? (
            <EmptyLine>No description.</EmptyLine>
          ) : (
            // Focusable, so that the keyboard can scroll it.
            // biome-ignore lint/a11y/noNoninteractiveTabindex: see above.
            <div class="description" tabIndex={0}>
              <Markdown source={issue.description} />
            </div>
          )}
        </section>
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
                {runs.length === 0 ? <EmptyLine>No runs yet.</EmptyLine> : <Waterfall project={project} runs={runs} />}
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
            content: () => (
              <DiffView path={projectPath(project, 'issues', issue.id, 'diff')} changesWith={isDiffNews} />
            ),
          },
          { name: 'questions', label: 'Questions', count: answered, content: () => <PastQuestions issue={issue} /> },
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
