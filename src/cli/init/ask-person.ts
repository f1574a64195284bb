import { createInterface } from 'node:readline/promises';
import type { AgentBackend } from '../../agent/backend.ts';
import type { AdapterInit, InitAnswers, InitQuestion } from '../../core/adapter-init.ts';
import { BatonError } from '../../core/baton-error.ts';
import { adaptersIn, findBackend, findTracker } from '../../daemon/adapters.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { TrackerAdapter } from '../../tracker/adapter.ts';
import { leadsToReview } from './planned-review.ts';
import { repositoryAround } from './repository-around.ts';

export interface InitFlags {
  readonly json?: boolean;
  readonly tracker?: string;
  readonly agent?: string;
  readonly label?: string;
  readonly repo?: string;
  readonly judge?: boolean;
  readonly setup?: boolean;
  /** Writes the phases of a pipeline. */
  readonly pipeline?: boolean;
  /** Takes the default for every question. */
  readonly yes?: boolean;
  /** The options that answer questions of the adapters, as `flagOf` names them. */
  readonly [flag: string]: unknown;
}

export interface Chosen {
  readonly tracker: TrackerAdapter;
  readonly agent: AgentBackend;
  /** The answers to the questions of both adapters. */
  readonly answers: InitAnswers;
  /** The label that an issue needs before Baton touches it; null for none. */
  readonly label: string | null;
  /** The repository that each workspace is a checkout of; null for an empty directory. */
  readonly repo: string | null;
  /** Whether an agent reviews each change before people do. */
  readonly judge: boolean;
  /** Whether the person wants a setup as soon as a daemon runs. Nothing in the file says so: a setup runs only when asked. */
  readonly wantsSetup: boolean;
  /** Whether issues are prepared in phases. No question asks for it: it costs several runs for each issue. */
  readonly hasPipeline: boolean;
}

/** With the price: what one more run for each change means. */
const judgeQuestion =
  'Should an agent judge each change before you review it? A change then costs two runs instead of one, and four if it is rejected once (yes or no)?';

/** With the price. */
const setupQuestion =
  'Should an agent find out how the repository is built and tested (baton setup)? It costs one run, and nothing changes before you accept it (yes or no)?';

/** The name of a question's option on the command line: `projectSlug` for `project_slug`. */
function flagOf({ name }: InitQuestion): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Asks what the flags leave open. Without a terminal, takes the defaults. `target` is the file to be written. */
export async function askPerson(flags: InitFlags, target: string, surroundings: Surroundings): Promise<Chosen> {
  const { stdin, stderr } = surroundings;
  const { trackers, backends } = adaptersIn(surroundings);
  const canAsk = stdin.isTTY === true && flags.yes !== true && flags.json !== true;
  const terminal = canAsk ? createInterface({ input: stdin, output: stderr }) : null;
  const ask = async (given: unknown, question: string, byDefault: string): Promise<string> => {
    if (typeof given === 'string') return given.trim();
    if (terminal === null) return byDefault;
    const prompt = `${question} [${byDefault || 'none'}] `;
    // Ctrl-C and Ctrl-D end the question.
    const answer = await terminal.question(prompt).catch((cause: unknown) => {
      stderr.write('\n');
      throw new BatonError('init_refused', 'You left the questions unanswered, so no file was written.', {
        cause,
        nextStep: 'Run `baton init` again, or answer with options (`baton init --help`).',
        details: { problem: 'not_answered' },
      });
    });
    return answer.trim() === '' ? byDefault : answer.trim();
  };
  const askAll = async ({ questions }: AdapterInit): Promise<[string, string][]> => {
    const answers: [string, string][] = [];
    for (const each of questions) answers.push([each.name, await ask(flags[flagOf(each)], each.question, '')]);
    return answers.filter(([, answer]) => answer !== '');
  };
  try {
    const kinds = trackers.map(({ kind, init }) => named(kind, init)).join(', ');
    const kind = await ask(flags.tracker, `Where are the issues: ${kinds}?`, trackers[0]?.kind ?? '');
    const tracker = findTracker(kind, surroundings);
    const ofTracker = await askAll(tracker.init);
    // In a shared tracker, an issue that was filed for a person must not start an agent.
    const labelByDefault = tracker.init.isShared ? 'baton' : '-';
    const label = await ask(flags.label, 'Work only on issues with this label (- for all)?', labelByDefault);
    // An option of one backend selects that backend.
    const isMeant = ({ init }: AgentBackend): boolean =>
      init.questions.some((each) => flags[flagOf(each)] !== undefined);
    const names = backends.map(({ name, init }) => named(name, init)).join(', ');
    // Otherwise offer one that needs no login, so that the first start works.
    const needsNothing = (backend: AgentBackend): boolean => {
      const needs = backend.needs(null);
      return needs?.paths.length === 0 && needs.hosts.length === 0;
    };
    const offered = (backends.find(isMeant) ?? backends.find(needsNothing) ?? backends[0])?.name ?? '';
    const name = await ask(flags.agent, `Which agent: ${names}?`, offered);
    const agent = findBackend(name, surroundings);
    const ofAgent = await askAll(agent.init);
    // A user inside a repository most likely means that one.
    const here = (await repositoryAround(target, surroundings)) ?? '-';
    const answered = await ask(flags.repo, 'Git repository to work on, a path or a URL (- for none)?', here);
    const repo = answered === '-' || answered === '' ? null : answered;
    const canJudge = leadsToReview({ repo, tracker });
    if (flags.judge === true && !canJudge) throw nothingToJudge();
    const isYes = async (question: string): Promise<boolean> => /^y(es)?$/i.test(await ask(undefined, question, 'no'));
    const judge = flags.judge ?? (canJudge && (await isYes(judgeQuestion)));
    if (flags.setup === true && repo === null) throw nothingToSetUp();
    const wantsSetup = flags.setup ?? (repo !== null && (await isYes(setupQuestion)));
    return {
      tracker,
      agent,
      answers: Object.fromEntries([...ofTracker, ...ofAgent]),
      label: label === '-' || label === '' ? null : label,
      repo,
      judge,
      wantsSetup,
      hasPipeline: flags.pipeline === true,
    };
  } finally {
    terminal?.close();
  }
}

function nothingToJudge(): BatonError {
  return new BatonError('init_refused', 'A judge needs changes under review, and these answers lead to none.', {
    nextStep:
      'Name a repository on this machine or on github.com (--repo), and a tracker with a state for review, or leave out --judge.',
    details: { problem: 'nothing_to_judge' },
  });
}

function nothingToSetUp(): BatonError {
  return new BatonError('init_refused', 'A setup needs a repository, and these answers name none.', {
    nextStep: 'Name a repository (--repo), or leave out --setup.',
    details: { problem: 'nothing_to_set_up' },
  });
}

function named(name: string, { about }: AdapterInit): string {
  return about === null ? name : `${name} (${about})`;
}
