// The JavaScript client. In a packed module this file names the copy of it; see packaging/foundry.
export { SocketHost } from "../javascript/socket.mjs";
