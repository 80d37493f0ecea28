import { Ended, Refused, Viewer } from "./riskbreaker.mjs";

export { Ended, Refused, Viewer };

/** A viewer that a connection over the network has opened. */
export interface Guest extends Viewer {
  /** The token that opens this viewer again; undefined for a viewer that entered by `watch`. */
  readonly token?: string;
}

/** A connection to `riskbreaker table` or `riskbreaker serve --websocket`. */
export class SocketHost {
  static connect(address: string, options?: { WebSocket?: unknown }): Promise<SocketHost>;
  readonly ended: boolean;
  onError: (error: unknown) => void;
  /** Called when the connection is lost. */
  onLost: () => unknown;
  enter(as: { token: string; seat?: string } | { code: string; name?: string; seat?: string } | { watch: true }): Promise<Guest>;
  /** Connects again; each viewer continues from its last step. */
  reconnect(): Promise<void>;
  call(method: string, params?: object): Promise<any>;
  close(): void;
}
