import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import { withCommandFlags } from '../control/register.ts';
import type { CommandFlags } from '../control/submit-command.ts';
import { count } from '../option-parsers.ts';
import type { ArtifactFlags } from './artifact.ts';
import type { PipelineFlags } from './show.ts';

/** Adds `pipeline show|list|move|approve|reject|artifact`. */
export function registerPipelineCommands(program: Command, parts: CommandParts): void {
  const { surroundings, finish, addProjectCommand } = parts;
  const pipeline = program.command('pipeline').description('see and steer how issues are prepared in phases');

  addProjectCommand(pipeline, 'show', 'draw the phases, and say what an issue costs in runs').action(
    async (flags: PipelineFlags) => {
      const { showPipeline } = await import('./show.ts');
      finish(await showPipeline(flags, surroundings));
    },
  );

  addProjectCommand(pipeline, 'list', 'list the issues by phase, and what each waits for').action(
    async (flags: PipelineFlags) => {
      const { listPipeline } = await import('./list.ts');
      finish(await listPipeline(flags, surroundings));
    },
  );

  withCommandFlags(addProjectCommand(pipeline, 'move <issue> <phase>', 'send an issue to a phase, forward or back'))
    .option('--note <text>', 'a note to the next agent')
    .action(async (issue: string, phase: string, { note, ...flags }: CommandFlags & { readonly note?: string }) => {
      const { movePhase } = await import('./move.ts');
      finish(await movePhase(issue, phase, note, flags, surroundings));
    });

  withCommandFlags(
    addProjectCommand(
      pipeline,
      'approve <issue>',
      'approve the artifact of an issue, which then goes to its next phase',
    ),
  )
    .argument('[words...]', 'a note to the next agent; - reads it from stdin')
    .action(async (issue: string, words: string[], flags: CommandFlags) => {
      const { approvePhase } = await import('./approve.ts');
      finish(await approvePhase(issue, words, flags, surroundings));
    });

  withCommandFlags(addProjectCommand(pipeline, 'reject <issue>', 'send the artifact of an issue back to its agent'))
    .argument('<words...>', 'what has to change; - reads it from stdin')
    .action(async (issue: string, words: string[], flags: CommandFlags) => {
      const { rejectPhase } = await import('./reject.ts');
      finish(await rejectPhase(issue, words, flags, surroundings));
    });

  withCommandFlags(
    addProjectCommand(pipeline, 'artifact <issue> [phase]', 'print the artifact of a phase, or replace it'),
  )
    .option('--version <number>', 'print this version instead of the newest', count)
    .option('--diff', 'show the difference from the previous version')
    .option('--put <file>', 'store this file as the newest version; - reads stdin')
    .action(async (issue: string, phase: string | undefined, flags: ArtifactFlags) => {
      const { artifact } = await import('./artifact.ts');
      finish(await artifact(issue, phase, flags, surroundings));
    });
}
