import type { VNode } from 'preact';
import type { RunEvent } from '../../../src/client/schema/run.ts';
import { type EventKind, viewOf } from '../../data/run/transcript-kinds.ts';
import { Markdown } from '../shared/markdown.tsx';
import { Text } from '../shared/text.tsx';
import { Fold } from './transcript-fold.tsx';

/** The words before an event: who did what. */
export const kindWords: Readonly<Record<EventKind, string>> = {
  says: 'says',
  person: 'person',
  thinks: 'thinks',
  command: 'command',
  change: 'change',
  tool: 'tool',
  question: 'asks',
  prompt: 'prompt',
  turn: 'turn',
  problem: 'problem',
  output: 'output',
  figures: 'numbers',
  piece: 'partial text',
};

interface EntryProps {
  readonly event: RunEvent;
  /** Its permanent address. */
  readonly href: string;
  /** Found by a search, or the current hit of it. */
  readonly mark?: 'found' | 'current';
}

/** A longer text is shown plain and folded, because Markdown of that length is slow. */
const longestMarkdown = 20_000;
const longestPlain = 1_500;

/** One event of a transcript. */
export function TranscriptEntry({ event, href, mark }: EntryProps): VNode {
  const { kind, text, isMarkdown, detail, isBad } = viewOf(event);
  return (
    <li class={`entry ${kind}${isBad ? ' bad' : ''} ${mark === undefined ? '' : `is-${mark}`}`} data-seq={event.seq}>
      <a href={href} class="permalink">
        <SecondTime at={event.at} />
        <span class="unseen">, event {event.seq}</span>
      </a>
      <span class="kind">
        {kindWords[kind]}
        {isBad && <span class="unseen"> (failed)</span>}
      </span>
      <div class="content">
        {isMarkdown && text.length <= longestMarkdown ? (
          <Markdown source={text} />
        ) : text.length > longestPlain ? (
          <Fold text={text} name="the text" />
        ) : (
          <p>
            <Text text={text} lines />
          </p>
        )}
        {detail !== null && <Fold text={detail} name={kind === 'command' ? 'its output' : 'the call'} lines={3} />}
      </div>
    </li>
  );
}

/** Made once, because making one takes longer than drawing a row. */
const withSeconds = new Intl.DateTimeFormat([], {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const whole = new Intl.DateTimeFormat([], { dateStyle: 'medium', timeStyle: 'medium' });

/** The time of the day with seconds. */
export function SecondTime({ at }: { readonly at: string }): VNode {
  const date = new Date(at);
  return (
    <time dateTime={at} title={whole.format(date)} class="number">
      {withSeconds.format(date)}
    </time>
  );
}
