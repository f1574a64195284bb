import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { IssuePipeline } from '../../client/schema/pipeline.ts';
import { BatonError } from '../../core/baton-error.ts';
import { copyable } from '../../core/command/retry-command.ts';
import { mostArtifactBytes } from '../../core/pipeline/phase.ts';
import { harmlessLine, harmlessLines } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { type CommandFlags, connectAs, submitCommand } from '../control/submit-command.ts';
import { exitCodes } from '../exit-codes.ts';
import { authorWords, timeWords } from '../issue/history-words.ts';
import { readStdin } from '../issue/read-stdin.ts';
import { jsonLine } from '../json-line.ts';

export interface ArtifactFlags extends CommandFlags {
  readonly version?: number;
  readonly diff?: boolean;
  /** A file, or `-` for stdin. */
  readonly put?: string;
}

/** `baton pipeline artifact`: prints the artifact of a phase, the difference between versions, or stores a person's version. */
export async function artifact(
  issue: string,
  phase: string | undefined,
  flags: ArtifactFlags,
  surroundings: Surroundings,
): Promise<number> {
  if (flags.put !== undefined) {
    const text = await readFile(flags.put, surroundings);
    const of = phase === undefined ? {} : { phase };
    return submitCommand({ kind: 'artifact_put', issue, text, ...of }, flags, surroundings);
  }
  await using connection = await connectAs(flags, surroundings);
  const { project } = connection;
  const found = await project.issuePipeline(issue);
  if (found === null)
    throw new BatonError('artifact_not_found', `${harmlessLine(issue)} is not in the pipeline.`, {
      nextStep: 'See which issues are with `baton pipeline list`.',
      details: { code: 'not_in_pipeline' },
    });
  const name = phase ?? phaseWithArtifact(issue, found);
  const { stdout } = surroundings;
  if (flags.diff === true) {
    const diff = await project.artifactDiff(issue, name, flags.version ?? null);
    stdout.write(flags.json ? jsonLine({ diff }) : harmlessLines(diff.files.map(({ patch }) => patch ?? '').join('')));
    return exitCodes.ok;
  }
  const read = await project.artifact(issue, name, flags.version ?? null);
  const versions = found.artifacts.filter((each) => each.phase === name);
  if (flags.json) stdout.write(jsonLine({ artifact: read, versions }));
  else {
    const { stderr } = surroundings;
    // On stderr, so that the document alone can be saved.
    stderr.write(
      `${name}, version ${read.version} of ${versions.length}, by ${authorWords(read.author)} at ${timeWords(read.at)}\n`,
    );
    stdout.write(read.text.endsWith('\n') ? harmlessLines(read.text) : `${harmlessLines(read.text)}\n`);
  }
  return exitCodes.ok;
}

/** The phase that the issue is in, or the last one before it with an artifact. */
function phaseWithArtifact(issue: string, { phase, artifacts }: IssuePipeline): string {
  const found = artifacts.find((each) => each.phase === phase) ?? artifacts[0];
  if (found !== undefined) return found.phase;
  throw new BatonError('artifact_not_found', `${harmlessLine(issue)} has no artifact yet.`, {
    nextStep: `Wait for its agent, or write one: \`baton pipeline artifact ${copyable(issue)} --put FILE\`.`,
    details: { phase },
  });
}

async function readFile(name: string, surroundings: Surroundings): Promise<string> {
  if (name === '-') return (await readStdin(surroundings, mostArtifactBytes)).toString('utf8');
  const file = path.resolve(surroundings.cwd, name);
  let bytes: Buffer;
  try {
    if (statSync(file).size > mostArtifactBytes)
      throw new BatonError('usage_error', `${file} has more than ${mostArtifactBytes} bytes.`);
    bytes = readFileSync(file);
  } catch (cause) {
    if (cause instanceof BatonError) throw cause;
    throw new BatonError('usage_error', `${file} cannot be read.`, { cause });
  }
  return bytes.toString('utf8');
}
