// Exports the JavaScript client. In a packed module this file names its copy; see packaging/foundry.
export { SocketHost } from "../javascript/socket.mjs";
