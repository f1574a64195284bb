/** The orders of issue lists. `changed`: the newest change first. `start`: as issues start. */
export type IssueOrder = 'changed' | 'start';

/**
 * The place of an issue in a list: its last change and its id, or its rank, its creation and its identifier. All parts
 * are numbers but the last.
 */
export type IssuePlace = readonly (number | string)[];

export function comparePlaces(left: IssuePlace, right: IssuePlace, order: IssueOrder): number {
  const at = left.findIndex((value, index) => value !== right[index]);
  if (at === -1) return 0;
  return (left[at] ?? 0) < (right[at] ?? 0) === (order === 'start') ? -1 : 1;
}
