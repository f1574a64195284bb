import { entryPhase, type PhaseRecord, type PipelineSettings, phaseNames } from './phase.ts';

/*
 * The labels of the pipeline in the tracker. They mirror the store. A label that a person changed is the person's command:
 * Baton compares the labels of the issue with those that it last wrote itself.
 */

const phasePrefix = 'phase:';
const skipPrefix = 'skip:';
const revisionLabel = 'needs-revision';

/** The labels that an issue should have, in the order in which they are written, without those that the tracker lacks. */
export function labelsOf(
  { phase, revisionSince, skipped }: Pick<PhaseRecord, 'phase' | 'revisionSince' | 'skipped'>,
  absent: ReadonlySet<string> = noLabels,
): readonly string[] {
  const labels = [
    `${phasePrefix}${phase}`,
    ...(revisionSince === null ? [] : [revisionLabel]),
    ...skipped.map((name) => `${skipPrefix}${name}`),
  ];
  return absent.size === 0 ? labels : labels.filter((label) => !absent.has(label));
}

const noLabels: ReadonlySet<string> = new Set();

/** Those of these labels that belong to the pipeline. */
function pipelineLabels(labels: readonly string[]): readonly string[] {
  return labels.filter(isPipelineLabel);
}

export function isPipelineLabel(label: string): boolean {
  return label === revisionLabel || label.startsWith(phasePrefix) || label.startsWith(skipPrefix);
}

/** The phases that labels mark to be skipped. */
export function markedToSkip(labels: readonly string[]): readonly string[] {
  return labels.filter((label) => label.startsWith(skipPrefix)).map((label) => label.slice(skipPrefix.length));
}

/** The phase that an issue begins in: the one that a person labelled it with, or `pipeline.entry`. */
export function phaseByLabels(labels: readonly string[], pipeline: PipelineSettings): string {
  return onlyPhase(labels, pipeline) ?? entryPhase(pipeline);
}

/** The labels that Baton wrote, or may have written. */
function ownLabels({ mirrored, mirroring }: Pick<PhaseRecord, 'mirrored' | 'mirroring'>): readonly string[] {
  return [...(mirrored ?? []), ...(mirroring?.labels ?? [])];
}

/** What Baton knows of its labels after a write: a label of an earlier write whose end it never saw may still be there. */
export function writtenLabels(
  record: PhaseRecord,
  labels: readonly string[],
  absent: ReadonlySet<string>,
): readonly string[] {
  return [...new Set([...labelsOf(record, absent), ...ownLabels(record).filter((label) => labels.includes(label))])];
}

/** What Baton knows of its labels once it obeyed a person who changed that of the phase: each label counts once. */
export function obeyedLabels(written: readonly string[], labels: readonly string[]): readonly string[] {
  const isPhase = (label: string): boolean => label.startsWith(phasePrefix);
  return [...labels.filter(isPhase), ...written.filter((label) => !isPhase(label))];
}

export interface LabelChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

export type LabelFinding =
  /** The labels are as they should be. */
  | { readonly kind: 'same' }
  /** They lack what changed in the store, or are damaged: they are written again. `damage` names what was wrong. */
  | { readonly kind: 'write'; readonly change: LabelChange; readonly damage: readonly string[] }
  /** A person moved the issue to another phase. */
  | { readonly kind: 'moved'; readonly phase: string }
  /** A person took the mark for a revision away, or put it there. */
  | { readonly kind: 'revision'; readonly wanted: boolean };

/**
 * What the labels of an issue say, compared with the store and with what Baton last wrote. Labels that the tracker lacks are
 * not missed.
 */
export function compareLabels(
  labels: readonly string[],
  record: PhaseRecord,
  pipeline: PipelineSettings,
  absent: ReadonlySet<string> = noLabels,
): LabelFinding {
  const actual = pipelineLabels(labels);
  const wanted = labelsOf(record, absent);
  const written = record.mirrored;
  const writtenPhase = written === null ? null : onlyPhase(written, pipeline);
  const own = ownLabels(record);
  const phase = onlyPhase(
    actual.filter((label) => !own.includes(label)),
    pipeline,
  );
  // Without labels of its own Baton had nothing that a person could have changed: the start of the issue read them.
  if (written !== null && phase !== null && phase !== record.phase) return { kind: 'moved', phase };
  const hasMark = actual.includes(revisionLabel);
  const isWritten = writtenPhase === record.phase || absent.has(`${phasePrefix}${record.phase}`);
  const isPhaseAsWritten = onlyPhase(actual, pipeline) === writtenPhase && isWritten;
  if (
    written !== null &&
    record.mirroring === null &&
    isPhaseAsWritten &&
    hasMark !== written.includes(revisionLabel) &&
    hasMark !== wanted.includes(revisionLabel)
  )
    return { kind: 'revision', wanted: hasMark };
  // A mark to skip a phase that is still to come is a person's wish, and stays.
  const coming = new Set(phaseNames(pipeline).slice(phaseNames(pipeline).indexOf(record.phase) + 1));
  const isWish = (label: string): boolean =>
    !own.includes(label) && markedToSkip([label]).some((name) => coming.has(name));
  const add = wanted.filter((label) => !actual.includes(label));
  const remove = actual.filter((label) => !wanted.includes(label) && !isWish(label));
  if (add.length === 0 && remove.length === 0) return { kind: 'same' };
  return {
    kind: 'write',
    change: { add, remove },
    damage: written === null ? [] : damageIn(actual, written, pipeline),
  };
}

/** What is wrong with the labels themselves: a phase is missing, doubled or unknown. */
function damageIn(
  actual: readonly string[],
  written: readonly string[],
  pipeline: PipelineSettings,
): readonly string[] {
  const phases = actual.filter((label) => label.startsWith(phasePrefix));
  const unknown = phases.filter((label) => !phaseNames(pipeline).includes(label.slice(phasePrefix.length)));
  return [
    ...(phases.length === 0 && written.some((label) => label.startsWith(phasePrefix)) ? ['missing'] : []),
    ...(phases.length > 1 ? ['doubled'] : []),
    ...unknown.map((label) => `unknown ${label}`),
  ];
}

/** The phase that labels name; null: none, several, or an unknown one. */
function onlyPhase(labels: readonly string[], pipeline: PipelineSettings): string | null {
  const phases = labels
    .filter((label) => label.startsWith(phasePrefix))
    .map((label) => label.slice(phasePrefix.length));
  const [phase] = phases;
  return phases.length === 1 && phase !== undefined && phaseNames(pipeline).includes(phase) ? phase : null;
}
