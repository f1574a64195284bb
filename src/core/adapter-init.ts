/** What somebody answered to the questions of an adapter, by their names; a question left blank is not in it. */
export type InitAnswers = Readonly<Record<string, string>>;

/** Something that `baton init` has to know before it can write a workflow file with this adapter. */
export interface InitQuestion {
  /** Such as `project_slug`; the option `--project-slug` answers it without asking. */
  readonly name: string;
  /** What stands for its value in `baton init --help`, such as `slug`. */
  readonly value: string;
  readonly help: string;
  readonly question: string;
}

/** What every adapter tells `baton init`. */
export interface AdapterInit {
  /** A few words for people who do not know the name; null where it says enough. */
  readonly about: string | null;
  readonly questions: readonly InitQuestion[];
  /** What stands in the adapter's section of the file besides its name. */
  readonly settings: (answers: InitAnswers) => Readonly<Record<string, unknown>>;
  /** Comments above keys of the file, by key. */
  readonly comments?: Readonly<Record<string, string>>;
}
