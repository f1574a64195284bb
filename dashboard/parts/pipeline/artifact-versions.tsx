import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Artifact, ArtifactVersion } from '../../../src/client/schema/pipeline.ts';
import { readyPhase } from '../../../src/core/pipeline/phase.ts';
import { harmlessLine } from '../../../src/core/text/harmless-line.ts';
import { projectPath } from '../../data/connection/api.ts';
import { useResource } from '../../data/connection/resource.ts';
import { DiffView } from '../diff/diff-view.tsx';
import { CutText } from '../shared/cut-text.tsx';
import { EmptyLine } from '../shared/empty-line.tsx';
import { ProblemLine } from '../shared/problem-line.tsx';
import { TimeAgo } from '../shared/time.tsx';
import { ArtifactForm } from './artifact-form.tsx';
import type { PipelineProps } from './issue-pipeline.tsx';

/** The newest artifact as text; its other versions, the difference between them, and a version by the user. */
export function ArtifactVersions(props: PipelineProps): VNode {
  const { pipeline } = props;
  const { artifacts, phase, steps } = pipeline;
  const chosenPhase = useSignal<string | null>(null);
  const chosenVersion = useSignal<number | null>(null);
  const view = useSignal<'text' | 'diff' | 'replace'>('text');
  const withText = steps.map((step) => step.phase).filter((name) => artifacts.some((each) => each.phase === name));
  // A phase without an artifact may get one from the user.
  const phases = steps.map((step) => step.phase).filter((name) => name !== readyPhase);
  const usual = withText.includes(phase) ? phase : (artifacts[0]?.phase ?? phases.find((name) => name === phase));
  const shown = chosenPhase.value ?? usual ?? phases.at(-1) ?? phase;
  const versions = artifacts
    .filter((each) => each.phase === shown)
    .toSorted((one, other) => other.version - one.version);
  const version = versions.find((each) => each.version === chosenVersion.value) ?? versions[0];
  const toggle = (wanted: 'diff' | 'replace') => (): void => {
    view.value = view.peek() === wanted ? 'text' : wanted;
  };
  return (
    <div class="artifact" data-part="artifact">
      <div class="actions">
        <select
          aria-label="Artifact"
          data-part="artifact_phase"
          value={shown}
          onChange={({ currentTarget }) => {
            chosenPhase.value = currentTarget.value;
            chosenVersion.value = null;
            view.value = 'text';
          }}
        >
          {phases.map((name) => (
            <option key={name} value={name}>
              Artifact of {name}
            </option>
          ))}
        </select>
        {versions.length > 1 && (
          <select
            aria-label="Version"
            data-part="artifact_version"
            value={String(version?.version ?? '')}
            onChange={({ currentTarget }) => {
              chosenVersion.value = Number(currentTarget.value);
            }}
          >
            {versions.map((each) => (
              <option key={each.version} value={each.version}>
                Version {each.version}, by {authorText(each.author)}
              </option>
            ))}
          </select>
        )}
        {version !== undefined && version.version > 1 && (
          <button type="button" data-part="artifact_diff" aria-pressed={view.value === 'diff'} onClick={toggle('diff')}>
            Difference from version {version.version - 1}
          </button>
        )}
        <button
          type="button"
          data-part="artifact_replace"
          aria-pressed={view.value === 'replace'}
          onClick={toggle('replace')}
        >
          {version === undefined ? 'Write it' : 'Replace'}
        </button>
      </div>
      <Content
        {...props}
        key={`${shown}/${version?.version ?? 0}`}
        phase={shown}
        version={version}
        view={view.value}
        onStored={() => {
          view.value = 'text';
          chosenVersion.value = null;
        }}
      />
    </div>
  );
}

interface ContentProps extends PipelineProps {
  readonly phase: string;
  readonly version: ArtifactVersion | undefined;
  readonly view: 'text' | 'diff' | 'replace';
  readonly onStored: () => void;
}

function Content({ project, issue, spot, phase, version, view, onStored }: ContentProps): VNode {
  const path = projectPath(project, 'issues', issue.id, 'artifacts', phase);
  const read = useResource<Artifact>(version === undefined ? null : `${path}?version=${version.version}`);
  const { value, problem } = read.resource.value;
  const isRead = version === undefined || value !== null;
  if (problem !== null) return <ProblemLine problem={problem} />;
  if (!isRead) return <EmptyLine isAsking>Loading the artifact.</EmptyLine>;
  if (view === 'replace')
    return <ArtifactForm spot={spot} issue={issue.id} phase={phase} text={value?.text ?? ''} onStored={onStored} />;
  if (version === undefined || value === null) return <EmptyLine>This phase has no artifact yet.</EmptyLine>;
  if (view === 'diff') return <DiffView path={`${path}/diff?to=${version.version}`} changesWith={never} />;
  return (
    <section class="description" aria-label={`Artifact of ${phase}, version ${version.version}`}>
      <p>
        <small>
          Version {version.version} by {authorText(version.author)}, <TimeAgo at={version.at} />
        </small>
      </p>
      <CutText source={value.text} part="whole_artifact" />
    </section>
  );
}

/** A version never changes. */
function never(): boolean {
  return false;
}

/** An option has plain text only. */
function authorText(author: ArtifactVersion['author']): string {
  if (author.kind === 'person') return harmlessLine(author.name);
  return author.kind === 'run' ? 'the agent' : 'Baton';
}
