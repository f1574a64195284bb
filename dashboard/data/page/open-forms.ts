import { signal } from '@preact/signals';

/**
 * Which forms are open, by their place on the page: a row of Now, an issue, a run. The state is here and not in the
 * row, so that a form outlives its row: when things change around it, the text being typed stays where it is.
 */
export interface OpenForm {
  /** The name of the action that it is for. */
  readonly action: string;
  /** Changes when another form is opened there, but not when the same words are to be sent as something else. */
  readonly id: number;
}

const forms = signal<ReadonlyMap<string, OpenForm>>(new Map());
/** Answers that are being typed: the place of each question. */
const answers = signal<ReadonlyMap<string, string>>(new Map());
let opened = 0;
/** The form that a person has just asked for: it takes the focus, and one that is drawn again does not. */
let fresh: number | null = null;

export function openFormAt(place: string): OpenForm | null {
  return forms.value.get(place) ?? null;
}

export function openForm(place: string, action: string): void {
  opened += 1;
  fresh = opened;
  forms.value = new Map(forms.peek()).set(place, { action, id: opened });
}

/** The same words, for another action. */
export function turnForm(place: string, action: string): void {
  const form = forms.peek().get(place);
  if (form !== undefined) forms.value = new Map(forms.peek()).set(place, { ...form, action });
}

export function closeForm(place: string): void {
  forms.value = without(forms.peek(), place);
}

/** Whether a form was opened a moment ago; true once. */
export function isJustOpened({ id }: OpenForm): boolean {
  const isIt = fresh === id;
  if (isIt) fresh = null;
  return isIt;
}

/** Notes that an answer is being typed, or that none is any more. */
export function noteAnswering(question: string, place: string | null): void {
  if ((answers.peek().get(question) ?? null) === place) return;
  answers.value = place === null ? without(answers.peek(), question) : new Map(answers.peek()).set(question, place);
}

export function isAnswering(question: string): boolean {
  return answers.value.has(question);
}

/** The places where the user is typing: their content stays. */
export function placesInUse(): ReadonlySet<string> {
  return new Set([...forms.value.keys(), ...answers.value.values()]);
}

function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  const left = new Map(map);
  left.delete(key);
  return left;
}
