import type { VNode } from 'preact';
import type { Found } from '../../src/client/schema/system.ts';
import { harmlessLine } from '../../src/core/text/harmless-line.ts';
import { useEachProject } from '../data/connection/each-project.ts';
import { hasSeveralProjects } from '../data/connection/live.ts';
import { eventHref, issueHref, linkTo, queryWord } from '../data/page/router.ts';
import { type FoundGroup, type FoundResult, groupFound } from '../data/search/found-groups.ts';
import { markFound } from '../data/search/found-words.ts';
import { countWords } from '../data/text/words.ts';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Text } from '../parts/shared/text.tsx';
import { TimeAgo } from '../parts/shared/time.tsx';
import { TypedFilter } from '../parts/shared/typed-filter.tsx';

/** A single letter matches almost everything. */
const shortest = 2;

/** Searches the issues and the words of agents, of every project. The address contains the query. */
export function SearchScreen(): VNode {
  const wanted = queryWord('q').trim();
  const question = wanted.length < shortest ? null : `search?q=${encodeURIComponent(wanted)}`;
  const { answers } = useEachProject<Found>(question);
  const all = groupFound(answers.value);
  const within = placeNamed(queryWord('in'));
  const groups = all.filter(isFoundIn[within]);
  const isAnswered = answers.value.length > 0 && answers.value.every(({ asked }) => asked === question);
  const isCut = answers.value.some(({ value }) => value?.is_cut === true);
  return (
    <div class="screen search-screen">
      <h1 tabIndex={-1}>Search</h1>
      <search>
        <TypedFilter name="q" label="Search issues and transcripts" placeholder="Search issues and transcripts" />
      </search>
      {answers.value.map(({ project, problem }) => problem !== null && <ProblemLine key={project} problem={problem} />)}
      {all.length > 0 && (
        <nav class="reasons" aria-label="Where it was found">
          {searched.map((name) => (
            <a
              key={name}
              data-part={`in_${name}`}
              href={linkTo('/search', { q: wanted, ...(name === 'all' ? {} : { in: name }) })}
              aria-current={name === within ? 'true' : undefined}
            >
              {searchedWords[name]} <span class="count">{all.filter(isFoundIn[name]).length}</span>
            </a>
          ))}
        </nav>
      )}
      <output class="quiet-text" aria-busy={wanted.length >= shortest && !isAnswered}>
        {summaryOf({ wanted, groups, isAnswered, isCut })}
      </output>
      {groups.length === 0 && isAnswered && (
        <EmptyLine>
          No result for <Text text={`“${wanted}”`} />.
        </EmptyLine>
      )}
      <ul class="found">
        {groups.map((group) => (
          <Group key={group.key} group={group} wanted={wanted} />
        ))}
      </ul>
    </div>
  );
}

const searched = ['all', 'issues', 'runs'] as const;
type Searched = (typeof searched)[number];
const searchedWords = { all: 'all', issues: 'in the issue', runs: 'in what agents did' } as const;

const isFoundIn: Readonly<Record<Searched, (group: FoundGroup) => boolean>> = {
  all: () => true,
  issues: ({ inIssue }) => inIssue.length > 0,
  runs: ({ inRuns }) => inRuns.length > 0,
};

function placeNamed(name: string): Searched {
  return searched.find((each) => each === name) ?? 'all';
}

interface Summary {
  readonly wanted: string;
  readonly groups: readonly FoundGroup[];
  readonly isAnswered: boolean;
  readonly isCut: boolean;
}

function summaryOf({ wanted, groups, isAnswered, isCut }: Summary): string {
  if (wanted.length < shortest) return 'Type two letters or more.';
  if (!isAnswered) return 'Searching…';
  const cut = isCut ? ' Not everything was searched. Type more to narrow the search.' : '';
  if (groups.length === 0) return cut.trim();
  return `Found in ${countWords(groups.length, 'issue', 'issues')}.${cut}`;
}

interface GroupProps {
  readonly group: FoundGroup;
  readonly wanted: string;
}

function Group({ group, wanted }: GroupProps): VNode {
  const { project, identifier, title, inIssue, inRuns } = group;
  return (
    <li data-row-of>
      <h2>
        <a href={issueHref(project, identifier)} data-row aria-label={harmlessLine(`${identifier}: ${title ?? ''}`)}>
          <FoundText text={identifier} wanted={wanted} />
        </a>{' '}
        {title !== null && <FoundText text={title} wanted={wanted} />}
        {hasSeveralProjects.value && (
          <small>
            {' '}
            <Text text={project} />
          </small>
        )}
      </h2>
      {inIssue
        .filter(({ excerpt }) => ![identifier, title, ''].includes(excerpt))
        .map((result) => (
          <p key={result.excerpt}>
            <FoundText text={result.excerpt} wanted={wanted} />
          </p>
        ))}
      {inRuns.length > 0 && (
        <ul aria-label={`What agents said about ${harmlessLine(identifier)}`}>
          {inRuns.map((result) => (
            <Said key={`${result.run_id} ${result.seq}`} project={project} result={result} wanted={wanted} />
          ))}
        </ul>
      )}
    </li>
  );
}

interface SaidProps {
  readonly project: string;
  readonly result: FoundResult;
  readonly wanted: string;
}

function Said({ project, result: { run_id, at, seq, excerpt }, wanted }: SaidProps): VNode {
  return (
    <li>
      <span class="when">
        {run_id === null ? (
          <TimeAgo at={at} />
        ) : (
          <a href={eventHref(project, run_id, seq)}>
            <span class="unseen">Run, </span>
            {at === null ? `event ${seq ?? ''}` : <TimeAgo at={at} />}
          </a>
        )}
      </span>
      <FoundText text={excerpt} wanted={wanted} />
    </li>
  );
}

interface FoundTextProps {
  readonly text: string;
  readonly wanted: string;
}

/** Text by someone else, with the matches marked. The pieces are always plain text. */
function FoundText({ text, wanted }: FoundTextProps): VNode {
  return (
    <bdi class="said">
      {markFound(harmlessLine(text), harmlessLine(wanted)).map((piece, index) =>
        piece.isFound ? <mark key={index}>{piece.text}</mark> : piece.text,
      )}
    </bdi>
  );
}
