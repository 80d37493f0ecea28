/** Plain JSON. `{entity: 7}` is an entity, `{ratio: "1/2"}` a fraction. */
export type Value = null | boolean | number | string | Value[] | { [name: string]: Value };
export type Role = "operator" | "game_master" | "seat" | "watcher";

export interface QuestionId { action: number; ordinal: number; generation?: number }
export interface Choice {
  id: string; label: string; enabled: boolean; reason: string | null; note: string | null; max: number | null;
}
export type Ask =
  | { kind: "choose"; options: Choice[]; other?: boolean }
  | { kind: "choose_many"; options: Choice[]; min: number; max: number }
  | { kind: "number"; min: number; max: number }
  | { kind: "allot"; options: Choice[]; total: number; least: number }
  | { kind: "confirm" }
  | { kind: "order"; options: Choice[] }
  | { kind: "line"; max: number }
  | { kind: "dice"; dice: string; sides: number[] };
export interface Question {
  id: QuestionId; seat: string; topic: string; about?: number; title?: string; why: string; ask: Ask;
  proposal?: Value; sealed: boolean; yours: boolean;
  /** The number of options that `ask` leaves out; the method `find` finds them by a part of their names. */
  more?: number;
}
export interface Line { revision: number; event: string; roll?: Roll; [name: string]: unknown }
export type OutcomeKind = "success" | "failure" | "other";
/** A roll of dice. The amounts of the parts add up to the total. */
export interface Roll {
  parts: { dice?: string; faces?: Face[]; amount: number }[]; total: number;
  need?: { is: "under" | "at_most" | "at_least"; value: number }; result?: string; kind: OutcomeKind;
}
export interface Face { sides: number; value: number; fate?: "dropped" | "rerolled"; exploded?: boolean }
export interface Named { title: string; entity?: number }
/** A number on the status line of an entity. With `harm`, more of it is worse. */
export interface EntityNumber {
  name: string; label: string; value: number; max?: number; unit?: string; harm?: boolean;
}
export interface Entity {
  id: number; kind: string; title: string; fields: { [name: string]: Value };
  seat?: string; side?: Named; numbers?: EntityNumber[];
  position?: { x?: number; y?: number; h?: number; unit?: string; place?: Named };
}
export interface Turn {
  entity: number; title: string; state: "acted" | "now" | "to_come" | "out"; at?: number; note?: string;
}
export interface Order { label?: string; turns: Turn[] }
export interface ChatLine { id: number; name?: string; role: Role; seats?: string[]; text: string }
export type State = { is: "asking" } | { is: "fault"; fault?: object } | { is: "over"; outcome: string };
export interface Settings {
  paused: boolean;
  rules: { id: string; layers: string[]; title: string; version: string; hash: string; pending?: string };
  seats: { [seat: string]: unknown }; switches: { [name: string]: Value };
}
export interface View {
  table: string; role: Role; seat?: string; seq: number; revision: number; state: State; settings: Settings;
  entities: Entity[]; questions: Question[]; waiting: { seat: string; questions: number }[];
  undo: {
    allowed: boolean; decisions: number; takes_back?: { seat: string; about?: string; text?: string }; redo?: boolean;
  };
  presence: { role: Role; seat?: string; seats?: string[]; viewers: number }[];
  seats?: string[]; order?: Order | null; chat?: ChatLine[];
  /** The revision after which `log` begins; undefined if `log` replaces the known log. */
  after?: number; log: Line[];
  /** The steps of the lines, the oldest first: `first` and `last` are revisions. */
  steps?: { seq: number; first: number; last: number }[];
}
export interface Step {
  table: string; seq: number; cause: string; state: State; events: Line[]; left_out?: number; questions: Question[];
  waiting: View["waiting"]; undo: View["undo"]; changed: (Entity | { id: number; gone: true })[]; order?: Order | null; settings?: Settings;
}

export class Refused extends Error { readonly kind: string; readonly data: { kind: string; [name: string]: unknown } }
/** The program has ended: "riskbreaker has ended". */
export class Ended extends Error {}

export class Host {
  static start(program?: string, ...options: string[]): Promise<Host>;
  readonly ended: boolean;
  readonly pid: number;
  /** Called with each exception of a callback. By default it prints the exception. */
  onError: (error: unknown) => void;
  call(method: string, params?: object): Promise<any>;
  /** Opens the table of a campaign file, or a new one with the parameters of `table.new`; returns its name. */
  open(campaign: string, params?: object): Promise<string>;
  hello(as: { table: string; role: Role; seat?: string }): Promise<Viewer>;
  restart(): Promise<void>;
  withRestarts<Result>(work: () => Result | Promise<Result>, most?: number): Promise<Result>;
  /** Ends the program, or kills it after `patience` milliseconds. */
  close(patience?: number): Promise<void>;
}

export class Viewer {
  readonly table: string;
  readonly role: Role;
  readonly seat?: string;
  readonly number: number;
  /** Why this viewer has ended; undefined while it is open. */
  readonly left?: string;
  view: View;
  onStep: (step: Step) => unknown;
  onView: (view: View) => unknown;
  onPresence: (presence: View["presence"]) => unknown;
  onBye: (reason: string) => unknown;
  call(method: string, params?: object): Promise<any>;
  mine(): Question[];
  answer(question: Question, value: Value, key?: string): Promise<{ seq: number }>;
  undo(key?: string): Promise<{ seq: number; undone: object[] }>;
  refresh(): Promise<void>;
  close(): Promise<void>;
}
