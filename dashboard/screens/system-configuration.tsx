import type { VNode } from 'preact';
import type { Configuration } from '../../src/client/schema/system.ts';
import { projectPath } from '../data/connection/api.ts';
import { useInterval } from '../data/connection/interval.ts';
import { useResource } from '../data/connection/resource.ts';
import { queryWord, setQuery } from '../data/page/router.ts';
import { countWords, sentences } from '../data/text/words.ts';
import { CopyButton } from '../parts/shared/copy-button.tsx';
import { EachProject } from '../parts/shared/each-project.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { MessageList } from '../parts/shared/message-list.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Table } from '../parts/shared/table.tsx';
import { Text } from '../parts/shared/text.tsx';
import { TypedFilter } from '../parts/shared/typed-filter.tsx';

const againMs = 10_000;

/** Every setting that is in force, and where it comes from. */
export function SystemConfiguration(): VNode {
  const isChanged = queryWord('changed') !== '';
  return (
    <>
      <search class="toolbar settings-filter">
        <TypedFilter name="q" label="Search the settings" placeholder="Search the settings" />
        <label>
          <input
            type="checkbox"
            checked={isChanged}
            onChange={({ currentTarget }) => setQuery({ changed: currentTarget.checked ? '1' : null })}
          />{' '}
          Only changed settings
        </label>
      </search>
      <EachProject render={(project) => <Settings project={project} isChanged={isChanged} />} />
    </>
  );
}

interface SettingsProps {
  readonly project: string;
  readonly isChanged: boolean;
}

function Settings({ project, isChanged }: SettingsProps): VNode {
  const { resource, reload } = useResource<Configuration>(projectPath(project, 'configuration'));
  useInterval(againMs, reload);
  const { value, problem } = resource.value;
  if (value === null && problem === null) return <EmptyLine isAsking>Loading the settings.</EmptyLine>;
  if (value === null) return <>{problem !== null && <ProblemLine problem={problem} />}</>;
  const words = queryWord('q').toLowerCase().split(/\s+/u).filter(Boolean);
  const shown = value.settings.filter(({ key, value: set, origin }) => {
    const text = `${key} ${valueText(set)} ${origin}`.toLowerCase();
    return (!isChanged || origin !== 'default') && words.every((word) => text.includes(word));
  });
  return (
    <div class="settings">
      {problem !== null && <ProblemLine problem={problem} />}
      <FileState configuration={value} />
      {shown.length === 0 ? (
        <EmptyLine>No setting matches the filter.</EmptyLine>
      ) : (
        <Table
          caption={`Settings of ${project}`}
          rows={shown}
          keyOf={({ key }) => key}
          columns={[
            {
              label: 'Setting',
              cell: ({ key }) => (
                <code>
                  <Text text={key} />
                </code>
              ),
            },
            {
              label: 'Value',
              isWide: true,
              cell: ({ value: set }) => <Value value={set} />,
            },
            {
              label: 'From',
              cell: ({ origin }) => (
                <span class={origin === 'default' ? 'none' : ''}>
                  <Text text={origin} />
                </span>
              ),
            },
          ]}
        />
      )}
    </div>
  );
}

/** The file, its version, and its current problem. */
function FileState({ configuration }: { readonly configuration: Configuration }): VNode {
  const { path, revision, problem, warnings, settings } = configuration;
  const own = settings.filter(({ origin }) => origin !== 'default').length;
  return (
    <>
      {problem !== null && (
        <p class="problem">
          <strong>Baton cannot use the current file:</strong> <Text text={sentences(problem.text)} lines /> The settings
          below are from its last good version.
        </p>
      )}
      {warnings.length > 0 && <MessageList said={warnings} tone="needs" />}
      <p class="reading">
        <code>
          <Text text={path} />
        </code>{' '}
        <CopyButton text={path} label="Copy path" />{' '}
        <span class="quiet-text">
          revision <Text text={revision} />; {countWords(settings.length, 'setting', 'settings')}, {own} changed
        </span>
      </p>
    </>
  );
}

/** Longer values are folded: a prompt is a setting too. */
const longestShown = 200;

function Value({ value }: { readonly value: unknown }): VNode {
  const text = valueText(value);
  if (value === null || value === undefined || text === '') return <span class="none">none</span>;
  if (text.length <= longestShown && !text.includes('\n')) {
    return (
      <code>
        <Text text={text} />
      </code>
    );
  }
  return (
    <details>
      <summary>{countWords(text.length, 'character', 'characters')}</summary>
      <pre>
        <Text text={text} lines />
      </pre>
    </details>
  );
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
