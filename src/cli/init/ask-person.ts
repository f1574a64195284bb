import { createInterface } from 'node:readline/promises';
import { BatonError } from '../../core/baton-error.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { repositoryAround } from './repository-around.ts';

export interface InitFlags {
  readonly json?: boolean;
  readonly tracker?: string;
  readonly agent?: string;
  readonly command?: string;
  readonly projectSlug?: string;
  readonly label?: string;
  readonly repo?: string;
  /** Takes the default for every question. */
  readonly yes?: boolean;
}

export interface InitAnswers {
  readonly tracker: string;
  readonly agent: string;
  readonly command: string | null;
  readonly projectSlug: string | null;
  /** The label that a ticket needs before Baton touches it; null for none. */
  readonly label: string | null;
  /** What each workspace is a checkout of; null for an empty directory. */
  readonly repo: string | null;
}

/** Asks what the flags leave open. Where nobody can answer, the defaults are taken. `target` is the file to be written. */
export async function askPerson(flags: InitFlags, target: string, surroundings: Surroundings): Promise<InitAnswers> {
  const { stdin, stderr } = surroundings;
  const canAsk = stdin.isTTY === true && flags.yes !== true && flags.json !== true;
  const terminal = canAsk ? createInterface({ input: stdin, output: stderr }) : null;
  const ask = async (given: string | undefined, question: string, byDefault: string): Promise<string> => {
    if (given !== undefined) return given.trim();
    if (terminal === null) return byDefault;
    const prompt = `${question} [${byDefault || 'none'}] `;
    // Ctrl-C and Ctrl-D end the question.
    const answer = await terminal.question(prompt).catch((cause: unknown) => {
      stderr.write('\n');
      throw new BatonError('init_refused', 'The questions were not answered; nothing is written.', {
        cause,
        nextStep: 'Run it again, or answer with options (`baton init --help`).',
        details: { problem: 'not_answered' },
      });
    });
    return answer.trim() === '' ? byDefault : answer.trim();
  };
  try {
    const tracker = await ask(flags.tracker, "Where are the tickets: board (Baton's own), linear, memory?", 'board');
    const isShared = tracker !== 'board' && tracker !== 'memory';
    const projectSlug = isShared
      ? await ask(flags.projectSlug, "The project's slug (the end of its address)?", '')
      : '';
    // In a tracker that others use, nothing may start because somebody files a ticket for a person.
    const label = await ask(flags.label, 'Only tickets with this label (- for all)?', isShared ? 'baton' : '-');
    const agent = await ask(
      flags.agent,
      'Which agent: codex, command (any program), rehearsal (scripted stand-in)?',
      // Who names a program wants it run.
      flags.command === undefined ? 'rehearsal' : 'command',
    );
    const command =
      agent === 'command' ? await ask(flags.command, 'Its command (the prompt comes on standard input)?', '') : '';
    // Who runs it inside a repository most likely means that one.
    const here = (await repositoryAround(target, surroundings)) ?? '-';
    const repo = await ask(flags.repo, 'Git repository to work on, a path or a URL (- for none)?', here);
    return {
      tracker,
      agent,
      command: command === '' ? null : command,
      projectSlug: projectSlug === '' ? null : projectSlug,
      label: label === '-' || label === '' ? null : label,
      repo: repo === '-' || repo === '' ? null : repo,
    };
  } finally {
    terminal?.close();
  }
}
