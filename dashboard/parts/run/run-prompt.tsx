import type { VNode } from 'preact';
import type { StreamEvent } from '../../../src/client/schema/event.ts';
import type { Prompt } from '../../../src/client/schema/run.ts';
import { projectPath } from '../../data/connection/api.ts';
import { useResource } from '../../data/connection/resource.ts';
import { countWords } from '../../data/text/words.ts';
import { EmptyLine } from '../shared/empty-line.tsx';
import { ProblemLine } from '../shared/problem-line.tsx';
import { Text } from '../shared/text.tsx';
import { SecondTime } from './transcript-entry.tsx';

interface RunPromptProps {
  readonly project: string;
  readonly runId: string;
  readonly changesWith: (event: StreamEvent) => boolean;
}

type Turn = Prompt['turns'][number];

/** The prompts of the agent, turn by turn. Untrusted text has a border and the word "untrusted". */
export function RunPrompt({ project, runId, changesWith }: RunPromptProps): VNode {
  const { resource } = useResource<Prompt>(projectPath(project, 'runs', runId, 'prompt'), changesWith);
  const { value, problem } = resource.value;
  if (value === null)
    return problem === null ? <EmptyLine isAsking>Loading the prompt.</EmptyLine> : <ProblemLine problem={problem} />;
  if (value.turns.length === 0) return <EmptyLine>No prompt was recorded for this run.</EmptyLine>;
  return (
    <div class="prompts">
      {value.turns.map((turn, index) => (
        <details key={turn.turn} open={index === 0}>
          <summary>
            <h3>Turn {turn.turn}</h3> <SecondTime at={turn.at} /> <small>{sizeWords(turn)}</small>
          </summary>
          {turn.parts.map((part, at) =>
            part.is_untrusted ? (
              <section key={at} class="untrusted" aria-label="Untrusted text">
                <p class="mark">untrusted</p>
                <pre>
                  <Text text={part.text} lines />
                </pre>
              </section>
            ) : (
              <pre key={at}>
                <Text text={part.text} lines />
              </pre>
            ),
          )}
        </details>
      ))}
    </div>
  );
}

function sizeWords({ parts }: Turn): string {
  const length = parts.reduce((sum, { text }) => sum + text.length, 0);
  const strange = parts.filter(({ is_untrusted }) => is_untrusted).length;
  const start = countWords(length, 'character', 'characters');
  return strange === 0 ? start : `${start}, ${countWords(strange, 'part', 'parts')} untrusted`;
}
