import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { shellArgument } from '../core/text/shell-argument.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../daemon/workplace.ts';

/** The options with which a printed command finds the same project, with a space before each; empty where none is needed. */
function placeFlags(flags: WorkplaceFlags): string {
  return `${fileOf(flags) === '' ? '' : ` --workflow${fileOf(flags)}`}${stateOf(flags)}`;
}

/** Empty for the file that every command takes by itself. */
function fileOf({ workflow }: WorkplaceFlags): string {
  return workflow === undefined || workflow === 'WORKFLOW.md' ? '' : ` ${shellArgument(workflow)}`;
}

function stateOf({ stateDir }: WorkplaceFlags): string {
  return stateDir === undefined ? '' : ` --state-dir ${shellArgument(stateDir)}`;
}

/**
 * Makes the commands in a text of Baton work where its reader stands. The texts name them as `baton issue retry BAT-1`:
 * they do not know whether `baton` is on the PATH of the reader, nor in which folder the reader is. What must hold: a
 * command that already names its place is not changed twice. Only for words of Baton, never for a diff or a transcript.
 */
export function commandsHere(flags: WorkplaceFlags, surroundings: BatonPlace): (text: string) => string {
  const place = placeFlags(flags);
  return (text) =>
    text.replaceAll(command, (found, words: string, id: string | undefined, at: number) => {
      if (!ofProject.test(words) && !others.test(words)) return found;
      const [rest = ''] = text.slice(at + found.length).split(/[`\n]/, 1);
      const isPlaced = !ofProject.test(words) || /--(?:workflow|state-dir)\b/.test(rest);
      const isAlone = id === undefined && /^(?:$|[.;,)])/.test(rest);
      const file = ofFile.test(words) && isAlone ? `${fileOf(flags)}${words === 'start' ? stateOf(flags) : ''}` : '';
      return `${batonName(surroundings)} ${words}${id ?? ''}${file}${isPlaced ? '' : place}`;
    });
}

type BatonPlace = Pick<Surroundings, 'batonPath' | 'env'>;

/** Its words, and the first argument if it looks like an identifier; a full stop or a comma after it is no part of it. */
const command =
  /(?<![\w./-])baton ((?:(?:issue|ask|pr|pipeline|intake|scan|setup|runs|workspace|salvage|token|store) )?[a-z]+(?:-[a-z]+)*)( (?:'[^'\n]*'|"'")+| (?=[^\s`]*[A-Z\d])[\w./:-]*\w)?/g;

/** The commands that take `--workflow` and `--state-dir`. */
const ofProject =
  /^(?:(?:issue|ask|pr|pipeline|intake|scan|setup|runs|workspace|salvage) [a-z-]+|(?:status|setup|top|explain|review|board|jobs|requests|pause|resume|drain|reload|steer|takeover|handback))$/;
/** The commands that take the workflow file as an argument. */
const ofFile = /^(?:start|validate|doctor)$/;
const others = /^(?:start|init|doctor|validate|schema|demo|backup|restore|token [a-z]+|store [a-z]+)$/;

/** `baton` where that is this program, else its path. */
export function batonName({ batonPath, env }: BatonPlace): string {
  if (!path.isAbsolute(batonPath)) return batonPath;
  const folders = (env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const found = folders.map((folder) => path.join(folder, 'baton')).find((file) => existsSync(file));
  const isThis = found !== undefined && realpathSync(found) === realpathSync(batonPath);
  return isThis ? 'baton' : shellArgument(batonPath);
}
