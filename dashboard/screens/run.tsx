import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { StreamEvent } from '../../src/client/schema/event.ts';
import type { RunDetail } from '../../src/client/schema/run.ts';
import { projectPath } from '../data/connection/api.ts';
import { useResource } from '../data/connection/resource.ts';
import { now } from '../data/page/clock.ts';
import { issueHref } from '../data/page/router.ts';
import { createRunNews } from '../data/run/run-news.ts';
import { DiffView } from '../parts/diff/diff-view.tsx';
import { RunCommands } from '../parts/run/run-commands.tsx';
import { RunEvents } from '../parts/run/run-events.tsx';
import { RunProcess } from '../parts/run/run-process.tsx';
import { RunPrompt } from '../parts/run/run-prompt.tsx';
import { RunTools } from '../parts/run/run-tools.tsx';
import { Transcript } from '../parts/run/transcript.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Tabs } from '../parts/shared/tabs.tsx';
import { Text } from '../parts/shared/text.tsx';
import type { ScreenProps } from './index.ts';

/** One run: its process, all its events, and the prompts of its agent. */
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
      <h1 tabIndex={-1}>
        {value === null ? (
          <>
            Run <Text text={runId} />
          </>
        ) : (
          <>
            Run of{' '}
            <a href={issueHref(project, value.issue_identifier)}>
              <Text text={value.issue_identifier} />
            </a>
          </>
        )}
      </h1>
      {value !== null && (
        <p class="quiet-text">
          <code>
            <Text text={runId} />
          </code>
        </p>
      )}
      {problem !== null && <ProblemLine problem={problem} />}
      {value === null && problem === null && <EmptyLine isAsking>Loading the run.</EmptyLine>}
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
  return (
    <>
      <RunCommands project={project} run={run} />
      <RunProcess run={run} />
      <h2 class="unseen">Details</h2>
      <Tabs
        label="About the run"
        tabs={[
          { name: 'events', label: 'Events', content: () => <RunEvents {...facts} /> },
          { name: 'transcript', label: 'Transcript', content: () => <Transcript {...facts} /> },
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
