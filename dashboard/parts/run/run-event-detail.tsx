import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { RunEvent } from '../../../src/client/schema/run.ts';
import { projectPath } from '../../data/connection/api.ts';
import { useResource } from '../../data/connection/resource.ts';
import { eventHref, setQuery } from '../../data/page/router.ts';
import { pretty, viewOf } from '../../data/run/transcript-kinds.ts';
import { plainWords } from '../../data/text/words.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { EmptyLine } from '../shared/empty-line.tsx';
import { Markdown } from '../shared/markdown.tsx';
import { ProblemLine } from '../shared/problem-line.tsx';
import { Text } from '../shared/text.tsx';
import { kindWords, SecondTime } from './transcript-entry.tsx';
import { Fold } from './transcript-fold.tsx';

interface RunEventDetailProps {
  readonly project: string;
  readonly runId: string;
  readonly seq: number;
}

/** One event, whole. */
export function RunEventDetail({ project, runId, seq }: RunEventDetailProps): VNode {
  const query = new URLSearchParams({ after: String(seq - 1), limit: '1', whole: '1' });
  const { resource } = useResource<{ readonly events: readonly RunEvent[] }>(
    `${projectPath(project, 'runs', runId, 'events')}?${query}`,
  );
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.scrollIntoView({ block: 'nearest' }), []);
  const { value, problem } = resource.value;
  const event = value?.events.find((each) => each.seq === seq) ?? null;
  return (
    <aside class="event-detail" aria-label={`Event ${seq}`}>
      <header>
        <h3 ref={heading}>Event {seq}</h3>
        <CopyButton text={location.origin + eventHref(project, runId, seq)} label="Copy link" />
        <button type="button" class="quiet" onClick={() => setQuery({ seq: null })}>
          Close
        </button>
      </header>
      {problem !== null && <ProblemLine problem={problem} />}
      {value === null && problem === null && <EmptyLine isAsking>Loading the event.</EmptyLine>}
      {value !== null && event === null && <EmptyLine>There is no event with this number.</EmptyLine>}
      {event !== null && <Whole key={seq} event={event} />}
    </aside>
  );
}

function Whole({ event }: { readonly event: RunEvent }): VNode {
  const { kind, text, isMarkdown, detail } = viewOf(event);
  const payload = pretty(event.payload);
  return (
    <>
      <p class="quiet-text">
        <SecondTime at={event.at} /> · {kindWords[kind]} · <code>{plainWords(event.event)}</code>
      </p>
      {isMarkdown ? (
        <Markdown source={text} />
      ) : (
        <p>
          <Text text={text} lines />
        </p>
      )}
      {detail !== null && <Fold text={detail} name="the full text" lines={20} />}
      {payload === '' ? (
        <p class="quiet-text">No further data was recorded.</p>
      ) : (
        <>
          <p class="payload-head">
            <strong>Payload</strong> <CopyButton text={payload} label="Copy payload" />
          </p>
          <Fold text={payload} name="the payload" lines={30} />
        </>
      )}
    </>
  );
}
