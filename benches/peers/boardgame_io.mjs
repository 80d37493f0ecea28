// Moves a second of processor time through the reducer of boardgame.io: a rope that two players pull in turn, one die a move.
import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/`);
const { Client } = require("boardgame.io/client");

const MOVES = Number(process.argv[2] ?? 20_000);

const tug = {
  name: "tug",
  setup: () => ({ rope: 0, pulls: [0, 0] }),
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    pull: ({ G, ctx, random }, risk) => {
      const side = Number(ctx.currentPlayer);
      if (random.Die(10) > risk) G.rope += side === 0 ? -1 : 1;
      G.pulls[side] += 1;
    },
  },
  endIf: ({ G }) => (Math.abs(G.rope) >= 20 ? { winner: G.rope < 0 ? "0" : "1" } : undefined),
};

/** Plays so many moves, game after game, and gives the moves with the seconds of processor time. */
function play(moves) {
  let client;
  const before = process.cpuUsage();
  for (let move = 0; move < moves; move += 1) {
    if (!client || client.getState().ctx.gameover) {
      client = Client({ game: { ...tug, seed: move }, numPlayers: 2, debug: false });
      client.start();
    }
    client.moves.pull((move % 3) + 1);
  }
  const used = process.cpuUsage(before);
  return (used.user + used.system) / 1e6;
}

play(MOVES / 10); // warm
const seconds = play(MOVES);
console.log(`boardgame.io: ${MOVES} moves in ${seconds.toFixed(2)} CPU s, ${Math.round(MOVES / seconds)} a second`);
