// The fingerprint of a continuation: bytes that are equal only if the running script goes on alike.
//
// It is taken inside a function of the host that a script has called. It holds the call frames with their places in the code
// and their live registers, and all that can be reached from there and can change. Objects are numbered in the order of the
// first visit, so that sharing counts and addresses do not. What cannot be proven is refused with a reason.
//
// It reads the structures of the engine through the header files of its source. They must be those of the engine that is linked: sizes and
// the number of instructions are asserted here, and `fingerprint_fits` looks at live objects at run time.

#include "lua.h"
#include "lcommon.h"
#include "lobject.h"
#include "lstate.h"
#include "ltable.h"
#include "Luau/Bytecode.h"
#include "Luau/BytecodeUtils.h"

#include <bitset>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

static_assert(sizeof(TValue) == 16 && offsetof(TValue, tt) == 12, "the layout of values has changed");
static_assert(sizeof(LuaNode) == 32, "the layout of tables has changed");
static_assert(offsetof(LuaTable, sizearray) == 8 && offsetof(LuaTable, array) == 24 && offsetof(LuaTable, node) == 32, "the layout of tables has changed");
static_assert(offsetof(Closure, env) == 16 && offsetof(Closure, l) == 24, "the layout of functions has changed");
static_assert(sizeof(CallInfo) == 48, "the layout of call frames has changed");
static_assert(LOP__COUNT == LOP_NEWCLASS + 1 && LOP__COUNT == 91, "the instructions have changed: review `uses_of`");
static_assert(LUA_VECTOR_SIZE == 3, "the size of vectors has changed");

namespace
{

typedef std::bitset<256> Registers;

struct Refusal
{
    const char* why;
};

// What is known of the code of one function.
struct Code
{
    uint32_t number = 0;
    bool analysed = false;
    bool plain = true;
    std::vector<Registers> live; // registers that are read later, before each instruction
    std::vector<int> before;     // the instruction before each
};

// A field of a live entity; of a part of what one holds, nothing.
struct Field
{
    uint32_t id;
    const TString* name;
};

struct Fingerprinter
{
    // Code by its prototype.
    std::unordered_map<const Proto*, Code> codes;
    // Objects that never change.
    std::unordered_map<const void*, uint32_t> constants;
    // What scripts keep between runs: variables and open tables that constants hold.
    std::vector<std::pair<char, const void*>> kept;
    // Functions that instructions share with each other as long as what they hold is equal.
    std::unordered_set<const Closure*> shared;
    // The function of the host's own script whose variables are its state.
    const Closure* state = nullptr;
    // Those of them that have not been made yet.
    std::vector<const Closure*> unmade;
    // Numbers of kinds, by name.
    std::unordered_map<std::string, uint32_t> kinds;
    // That script's lists of entities by kind, and the handles of all entities.
    const LuaTable* lists = nullptr;
    const LuaTable* handles = nullptr;
    // The number of the entity whose handle a table is, 0 if it is none.
    uint32_t (*entity_of)(const void* context, const void* table) = nullptr;
    const void* context = nullptr;
    int anchor = 0;

    // For one fingerprint
    std::string out;
    std::unordered_map<const void*, uint32_t> numbers;
    std::vector<std::pair<char, const void*>> open;
    bool has_fields = false; // whether the list of a field is among what was reached
    // The tables that fields of live entities hold, and their parts, once one was looked for.
    std::unordered_map<const LuaTable*, Field> fields;
    bool knows_fields = false;
    lua_State* L = nullptr;
    StkId base = nullptr;

    // How many values and references were looked at since this was asked last.
    uint64_t looked_at = 0;
};

void set_range(Registers& registers, int from, int count)
{
    for (int at = from; at < 256 && (count < 0 || at < from + count); at++)
        registers.set(at);
}

// The registers that an instruction reads and those that it writes for certain; `jump`: those that it writes if it jumps.
void uses_of(const Instruction* code, int at, Registers& reads, Registers& writes, Registers& jump)
{
    Instruction insn = code[at];
    LuauOpcode op = LuauOpcode(LUAU_INSN_OP(insn));
    int A = LUAU_INSN_A(insn), B = LUAU_INSN_B(insn), C = LUAU_INSN_C(insn);
    uint32_t aux = Luau::getOpLength(op) == 2 ? code[at + 1] : 0;
    switch (op)
    {
    case LOP_NOP:
    case LOP_CLOSEUPVALS:
    case LOP_JUMP:
    case LOP_JUMPBACK:
    case LOP_JUMPX:
    case LOP_PREPVARARGS:
    case LOP_COVERAGE:
    case LOP_FASTCALL:
        break;
    case LOP_LOADNIL:
    case LOP_LOADB:
    case LOP_LOADN:
    case LOP_LOADK:
    case LOP_LOADKX:
    case LOP_GETGLOBAL:
    case LOP_GETUPVAL:
    case LOP_GETIMPORT:
    case LOP_NEWCLOSURE:
    case LOP_DUPCLOSURE:
    case LOP_NEWTABLE:
    case LOP_DUPTABLE:
        writes.set(A);
        break;
    case LOP_MOVE:
    case LOP_GETTABLEKS:
    case LOP_GETTABLEN:
    case LOP_NOT:
    case LOP_MINUS:
    case LOP_LENGTH:
    case LOP_GETUDATAKS:
    case LOP_ADDK:
    case LOP_SUBK:
    case LOP_MULK:
    case LOP_DIVK:
    case LOP_MODK:
    case LOP_POWK:
    case LOP_IDIVK:
    case LOP_ANDK:
    case LOP_ORK:
        reads.set(B);
        writes.set(A);
        break;
    case LOP_SETGLOBAL:
    case LOP_SETUPVAL:
    case LOP_JUMPIF:
    case LOP_JUMPIFNOT:
    case LOP_JUMPXEQKNIL:
    case LOP_JUMPXEQKB:
    case LOP_JUMPXEQKN:
    case LOP_JUMPXEQKS:
    case LOP_CMPPROTO:
        reads.set(A);
        break;
    case LOP_GETTABLE:
    case LOP_ADD:
    case LOP_SUB:
    case LOP_MUL:
    case LOP_DIV:
    case LOP_MOD:
    case LOP_POW:
    case LOP_IDIV:
    case LOP_AND:
    case LOP_OR:
        reads.set(B);
        reads.set(C);
        writes.set(A);
        break;
    case LOP_SUBRK:
    case LOP_DIVRK:
        reads.set(C);
        writes.set(A);
        break;
    case LOP_SETTABLE:
        reads.set(A);
        reads.set(B);
        reads.set(C);
        break;
    case LOP_SETTABLEKS:
    case LOP_SETTABLEN:
    case LOP_SETUDATAKS:
        reads.set(A);
        reads.set(B);
        break;
    case LOP_NAMECALL:
    case LOP_NAMECALLUDATA:
        reads.set(B);
        writes.set(A);
        writes.set(A + 1);
        break;
    case LOP_CALL:
    case LOP_CALLFB:
        set_range(writes, A, -1);
        set_range(reads, A, B == 0 ? -1 : B);
        break;
    case LOP_RETURN:
        set_range(reads, A, B == 0 ? -1 : B - 1);
        break;
    case LOP_JUMPIFEQ:
    case LOP_JUMPIFLE:
    case LOP_JUMPIFLT:
    case LOP_JUMPIFNOTEQ:
    case LOP_JUMPIFNOTLE:
    case LOP_JUMPIFNOTLT:
        reads.set(A);
        reads.set(aux & 255);
        break;
    case LOP_CONCAT:
        set_range(reads, B, C - B + 1);
        writes.set(A);
        break;
    case LOP_SETLIST:
        reads.set(A);
        set_range(reads, B, C == 0 ? -1 : C - 1);
        break;
    case LOP_FORNPREP:
    case LOP_FORNLOOP:
    case LOP_FORGPREP:
    case LOP_FORGPREP_INEXT:
    case LOP_FORGPREP_NEXT:
        set_range(reads, A, 3);
        break;
    case LOP_FORGLOOP:
        set_range(reads, A, 3);
        set_range(jump, A + 3, aux & 255);
        break;
    case LOP_FASTCALL1:
    case LOP_FASTCALL2K:
        reads.set(B);
        break;
    case LOP_FASTCALL2:
        reads.set(B);
        reads.set(aux & 255);
        break;
    case LOP_FASTCALL3:
        reads.set(B);
        reads.set(aux & 255);
        reads.set((aux >> 8) & 255);
        break;
    case LOP_GETVARARGS:
        set_range(writes, A, B - 1);
        break;
    case LOP_CAPTURE:
        if (A != LCT_UPVAL)
            reads.set(B);
        break;
    default: // an instruction that is not listed reads everything
        reads.set();
        break;
    }
}

// Notes the code of a function and of all functions inside it, and which functions its instructions share.
void note_code(Fingerprinter* f, const Proto* p)
{
    if (!f->codes.emplace(p, Code()).second)
        return;
    f->codes[p].number = uint32_t(f->codes.size());
    for (int at = 0; at < p->sizek; at++)
        if (ttisfunction(&p->k[at]) && f->shared.insert(clvalue(&p->k[at])).second)
            f->unmade.push_back(clvalue(&p->k[at]));
    for (int at = 0; at < p->sizep; at++)
        note_code(f, p->p[at]);
}

// Works out which registers are live: a backward pass, until nothing changes.
void analyse(Code& info, const Proto* p)
{
    int size = p->sizecode;
    info.analysed = true;
    info.plain = !p->debuginsn;
    info.live.assign(size + 1, Registers());
    info.before.assign(size + 1, -1);
    std::vector<int> starts;
    for (int at = 0; at < size;)
    {
        LuauOpcode op = LuauOpcode(LUAU_INSN_OP(p->code[at]));
        if (op == LOP_BREAK || op == LOP_NATIVECALL || op >= LOP__COUNT || op == LOP_NEWCLASS || op == LOP_NEWCLASSMEMBER || op == LOP_FASTPCALL)
            info.plain = false;
        starts.push_back(at);
        int next = at + Luau::getOpLength(op);
        if (next <= size)
            info.before[next] = at;
        at = next;
    }
    for (bool changed = true; changed;)
    {
        changed = false;
        for (size_t n = starts.size(); n-- > 0;)
        {
            int at = starts[n];
            LuauOpcode op = LuauOpcode(LUAU_INSN_OP(p->code[at]));
            int next = at + Luau::getOpLength(op);
            Registers reads, writes, jump, live;
            uses_of(p->code, at, reads, writes, jump);
            bool always_jumps = op == LOP_LOADB && LUAU_INSN_C(p->code[at]) != 0;
            if (Luau::isFallthrough(op) && !always_jumps && next <= size)
                live |= info.live[next];
            if (!Luau::isFastCall(op))
            {
                int target = Luau::getJumpTarget(p->code[at], at);
                if (target >= 0 && target <= size)
                    live |= info.live[target] & ~jump;
            }
            live &= ~writes;
            live |= reads;
            if (live != info.live[at])
            {
                info.live[at] = live;
                changed = true;
            }
        }
    }
}

// Writing

void put_byte(Fingerprinter* f, int byte)
{
    f->out.push_back(char(byte));
}

void put_number(Fingerprinter* f, uint32_t number)
{
    f->out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put_raw(Fingerprinter* f, const void* bytes, size_t count)
{
    f->out.append(static_cast<const char*>(bytes), count);
}

// Notes the tables inside a table that a field holds, as parts; what is an entity there has fields of its own.
void note_parts(Fingerprinter* f, const LuaTable* outer, int depth)
{
    auto note = [&](const TValue* value) {
        if (!ttistable(value) || f->entity_of(f->context, hvalue(value)))
            return;
        f->fields.emplace(hvalue(value), Field{0, nullptr});
        if (depth > 0)
            note_parts(f, hvalue(value), depth - 1);
    };
    for (int at = 0; at < outer->sizearray; at++)
        note(&outer->array[at]);
    for (int at = 0; outer->node != &luaH_dummynode && at < sizenode(outer); at++)
        note(gval(&outer->node[at]));
}

void note_fields(Fingerprinter* f, const LuaTable* handle, uint32_t id)
{
    for (int at = 0; handle->node != &luaH_dummynode && at < sizenode(handle); at++)
    {
        const LuaNode* node = &handle->node[at];
        if (!ttistable(&node->val) || node->key.tt != LUA_TSTRING || f->entity_of(f->context, hvalue(&node->val)))
            continue;
        f->fields.emplace(hvalue(&node->val), Field{id, &node->key.value.gc->ts});
        note_parts(f, hvalue(&node->val), 3);
    }
}

// Writes the name under which a field of a live entity holds this very table, if one does.
bool put_field(Fingerprinter* f, const LuaTable* table)
{
    if (!f->handles)
        return false;
    if (!f->knows_fields)
    {
        f->knows_fields = true;
        for (int at = 0; at < f->handles->sizearray; at++)
            if (ttistable(&f->handles->array[at]))
                note_fields(f, hvalue(&f->handles->array[at]), uint32_t(at + 1));
        for (int at = 0; f->handles->node != &luaH_dummynode && at < sizenode(f->handles); at++)
        {
            const LuaNode* node = &f->handles->node[at];
            if (node->key.tt == LUA_TNUMBER && ttistable(&node->val))
                note_fields(f, hvalue(&node->val), uint32_t(node->key.value.n));
        }
    }
    auto found = f->fields.find(table);
    if (found == f->fields.end())
        return false;
    const TString* name = found->second.name;
    if (!name)
        throw Refusal{"a part of a field"};
    f->has_fields = true;
    put_byte(f, 'H');
    put_number(f, found->second.id);
    put_number(f, name->len);
    put_raw(f, name->data, name->len);
    return true;
}

void put_reference(Fingerprinter* f, char kind, const void* object)
{
    f->looked_at++;
    auto constant = f->constants.find(object);
    if (constant != f->constants.end())
    {
        put_byte(f, 'K');
        put_number(f, constant->second);
        return;
    }
    if (kind == 't')
    {
        if (uint32_t id = f->entity_of(f->context, object))
        {
            put_byte(f, 'E');
            put_number(f, id);
            return;
        }
    }
    auto known = f->numbers.emplace(object, uint32_t(f->numbers.size()));
    if (known.second)
    {
        const LuaTable* table = static_cast<const LuaTable*>(object);
        // A list that the state of the game decides.
        if (kind == 't' && table->readonly && !table->metatable && put_field(f, table))
        {
            f->numbers.erase(object);
            return;
        }
        f->open.push_back({kind, object});
    }
    put_byte(f, 'R');
    put_number(f, known.first->second);
}

void put_value(Fingerprinter* f, const TValue* value)
{
    f->looked_at++;
    put_byte(f, ttype(value));
    switch (ttype(value))
    {
    case LUA_TNIL:
        break;
    case LUA_TBOOLEAN:
        put_byte(f, bvalue(value));
        break;
    case LUA_TLIGHTUSERDATA:
        put_raw(f, &value->value, 8);
        put_number(f, value->extra[0]);
        break;
    case LUA_TNUMBER:
    case LUA_TINTEGER:
        put_raw(f, &value->value, 8);
        break;
    case LUA_TVECTOR:
        put_raw(f, &value->value, 8);
        put_number(f, value->extra[0]);
        break;
    case LUA_TSTRING:
        put_number(f, tsvalue(value)->len);
        put_raw(f, svalue(value), tsvalue(value)->len);
        break;
    case LUA_TTABLE:
        put_reference(f, 't', hvalue(value));
        break;
    case LUA_TFUNCTION:
        put_reference(f, 'f', clvalue(value));
        break;
    case LUA_TBUFFER:
        put_reference(f, 'b', bufvalue(value));
        break;
    default:
        throw Refusal{"a value that is no plain data"};
    }
}

// The layout of a table counts, since scripts can see it: in which order it is gone through, and where its length ends.
void put_table(Fingerprinter* f, const LuaTable* table)
{
    bool empty = table->node == &luaH_dummynode;
    int nodes = empty ? 0 : sizenode(table);
    put_byte(f, table->readonly & 1);
    put_byte(f, table->safeenv);
    if (const LuaTable* meta = table->metatable)
    {
        for (int at = 0; meta->node != &luaH_dummynode && at < sizenode(meta); at++)
        {
            const LuaNode* node = &meta->node[at];
            if (node->key.tt == LUA_TSTRING && !ttisnil(gval(node)) && strcmp(node->key.value.gc->ts.data, "__mode") == 0)
                throw Refusal{"a weak table"};
        }
        put_reference(f, 't', meta);
    }
    else
        put_byte(f, '-');
    put_number(f, uint32_t(table->sizearray));
    put_number(f, uint32_t(table->lastfree));
    put_byte(f, empty ? 255 : table->lsizenode);
    for (int at = 0; at < table->sizearray; at++)
        put_value(f, &table->array[at]);
    for (int at = 0; at < nodes; at++)
    {
        const LuaNode* node = &table->node[at];
        put_number(f, uint32_t(node->key.next));
        if (node->key.tt == LUA_TDEADKEY)
            throw Refusal{"a table from which the collector has taken something"};
        TValue key;
        memset(&key, 0, sizeof key);
        key.value = node->key.value;
        memcpy(key.extra, node->key.extra, sizeof key.extra);
        key.tt = node->key.tt;
        if (key.tt > LUA_TSTRING || key.tt == LUA_TLIGHTUSERDATA)
            throw Refusal{"a table whose keys are objects"};
        put_value(f, &key);
        put_value(f, gval(node));
    }
}

void put_variable(Fingerprinter* f, const UpVal* variable)
{
    if (upisopen(variable))
    {
        if (!f->base || variable->v < f->base || variable->v >= f->L->top)
            throw Refusal{"a variable of another thread"};
        put_byte(f, 'o');
        put_number(f, uint32_t(variable->v - f->base));
    }
    else
        put_byte(f, 'c');
    put_value(f, variable->v);
}

void put_function(Fingerprinter* f, const Closure* function)
{
    if (function->isC)
        throw Refusal{"a function of the engine that keeps something"};
    note_code(f, function->l.p);
    put_number(f, f->codes[function->l.p].number);
    put_byte(f, f->shared.count(function) != 0);
    put_reference(f, 't', function->env);
    for (int at = 0; at < function->nupvalues; at++)
    {
        const TValue* held = &function->l.uprefs[at];
        if (ttisupval(held))
        {
            put_byte(f, 'U');
            put_reference(f, 'u', upvalue(held));
        }
        else
        {
            put_byte(f, 'V');
            put_value(f, held);
        }
    }
}

void put_open(Fingerprinter* f)
{
    for (size_t at = 0; at < f->open.size(); at++)
    {
        std::pair<char, const void*> next = f->open[at];
        put_byte(f, next.first);
        switch (next.first)
        {
        case 't':
            put_table(f, static_cast<const LuaTable*>(next.second));
            break;
        case 'f':
            put_function(f, static_cast<const Closure*>(next.second));
            break;
        case 'u':
            put_variable(f, static_cast<const UpVal*>(next.second));
            break;
        default:
        {
            const Buffer* buffer = static_cast<const Buffer*>(next.second);
            put_number(f, buffer->len);
            put_raw(f, buffer->data, buffer->len);
        }
        }
        if (f->out.size() > 1 << 20)
            throw Refusal{"more than a megabyte"};
    }
}

void put_kept(Fingerprinter* f)
{
    for (const auto& kept : f->kept)
        put_reference(f, kept.first, kept.second);
}

void begin(Fingerprinter* f, lua_State* L)
{
    f->out.clear();
    f->numbers.clear();
    f->open.clear();
    f->has_fields = false;
    f->fields.clear();
    f->knows_fields = false;
    f->L = L;
    f->base = nullptr;
}

// Lists that the host's own script keeps by kind are what the state of the game makes them: they count by their kind.
struct Lists
{
    Fingerprinter* f;
    std::vector<const void*> added;
    explicit Lists(Fingerprinter* f)
        : f(f)
    {
        const LuaTable* lists = f->lists;
        if (!lists || lists->node == &luaH_dummynode)
            return;
        for (int at = 0; at < sizenode(lists); at++)
        {
            const LuaNode* node = &lists->node[at];
            if (node->key.tt != LUA_TSTRING || !ttistable(&node->val))
                continue;
            const TString* name = &node->key.value.gc->ts;
            uint32_t number = f->kinds.emplace(std::string(name->data, name->len), uint32_t(f->kinds.size())).first->second;
            // The highest bit tells them apart from constants.
            if (f->constants.emplace(hvalue(&node->val), number | 0x80000000u).second)
                added.push_back(hvalue(&node->val));
        }
    }
    ~Lists()
    {
        for (const void* list : added)
            f->constants.erase(list);
    }
};

// Whether a frame hands on all that its call gives, and does nothing else: `return f(...)`. Lua does not take such a frame
// away, but whatever goes on does so as if it were not there: what is returned goes to its caller.
bool only_returns(const Proto* p, int place, int called)
{
    if (place >= p->sizecode)
        return false;
    Instruction call = p->code[place - 1], next = p->code[place];
    return LUAU_INSN_OP(call) == LOP_CALL && LUAU_INSN_C(call) == 0 && LUAU_INSN_OP(next) == LOP_RETURN && LUAU_INSN_A(next) == called && LUAU_INSN_B(next) == 0;
}

void put_continuation(Fingerprinter* f, lua_State* L)
{
    if (L != L->global->mainthread)
        throw Refusal{"a coroutine"};
    if (L->singlestep)
        throw Refusal{"single steps"};
    CallInfo* top = L->ci;
    if (top <= L->base_ci || !ttisfunction(top->func) || !ci_func(top)->isC)
        throw Refusal{"a call that is none of the host's"};
    auto host = f->constants.find(ci_func(top));
    if (host == f->constants.end())
        throw Refusal{"a call that is none of the host's"};
    CallInfo* first = L->base_ci + 1;
    if (first >= top || !(first->flags & LUA_CALLINFO_RETURN))
        throw Refusal{"a function of the engine among the calls"};
    f->base = first->func;
    put_number(f, host->second);
    put_number(f, L->nCcalls);
    // How many results the next frame has to give, where the frames between it and whoever wants them only return.
    int wanted = 0;
    bool handed_on = false, iterates = false;
    for (CallInfo* frame = first; frame < top; frame++)
    {
        // The interpreter is called again for an iterator function, and only for that.
        bool begins = frame == first || iterates;
        if (!isLua(frame) || bool(frame->flags & LUA_CALLINFO_RETURN) != begins)
            throw Refusal{"a function of the engine among the calls"};
        Closure* function = ci_func(frame);
        Proto* p = frame->p;
        if ((frame->flags & ~unsigned(LUA_CALLINFO_RETURN | LUA_CALLINFO_OPYIELD)) || function->l.p != p || p->optimized || p->deoptimized)
            throw Refusal{"code that is compiled for the processor"};
        note_code(f, p);
        Code& code = f->codes[p];
        if (!code.analysed)
            analyse(code, p);
        if (!code.plain)
            throw Refusal{"instructions that are not known"};
        int place = int(frame->savedpc - p->code);
        int at = code.before[place];
        int op = at < 0 ? LOP_NOP : LUAU_INSN_OP(p->code[at]);
        // A loop calls its iterator before it goes on to its second word.
        iterates = at < 0 && place > 0 && code.before[place + 1] == place - 1 && LUAU_INSN_OP(p->code[place - 1]) == LOP_FORGLOOP;
        if (op != LOP_CALL && op != LOP_CALLFB && !iterates)
            throw Refusal{"a call that is no call instruction"};
        if (bool(frame->flags & LUA_CALLINFO_OPYIELD) && !iterates)
            throw Refusal{"a call that is no call instruction"};
        int called = iterates ? LUAU_INSN_A(p->code[place - 1]) + 3 : LUAU_INSN_A(p->code[at]);
        if (frame->base + called != (frame + 1)->func)
            throw Refusal{"a strange frame"};
        int results = handed_on ? wanted : frame->nresults;
        handed_on = frame != first && !iterates && only_returns(p, place, called);
        wanted = results;
        if (handed_on)
            continue;
        put_byte(f, 'F');
        put_number(f, uint32_t(place));
        put_reference(f, 'f', function);
        put_number(f, uint32_t(frame->base - frame->func));
        put_number(f, uint32_t(results));
        if (p->is_vararg)
            for (StkId value = frame->func + 1 + p->numparams; value < frame->base; value++)
                put_value(f, value);
        // The loop puts what it is given into its third register, then goes on with its body or behind itself.
        Registers live = code.live[iterates ? place - 1 : place];
        if (iterates)
            live.reset(called - 1);
        for (int at = 0; at < called; at++)
            if (live.test(at))
            {
                put_byte(f, at);
                put_value(f, frame->base + at);
            }
    }
    // What the host's function that is called here has to give.
    put_byte(f, '.');
    put_number(f, uint32_t(handed_on ? wanted : top->nresults));
    if (f->state)
        for (int at = 0; at < f->state->nupvalues; at++)
        {
            const TValue* held = &f->state->l.uprefs[at];
            put_value(f, ttisupval(held) ? upvalue(held)->v : held);
        }
    put_kept(f);
    put_open(f);
}

// Registration: what never changes, by identity; what can change, to be looked at each time.

bool add_constant(Fingerprinter* f, lua_State* L, const void* object, int type)
{
    if (!f->constants.emplace(object, uint32_t(f->constants.size())).second)
        return false;
    // It is kept alive, so that its address is never another's.
    TValue* place = L->top;
    place->value.gc = static_cast<GCObject*>(const_cast<void*>(object));
    place->tt = type;
    L->top++;
    lua_rawseti(L, f->anchor, int(f->constants.size()));
    return true;
}

struct Pending
{
    TValue value;
    bool trusted;
};

void note_value(Fingerprinter* f, lua_State* L, std::vector<Pending>& pending, const TValue* value, bool trusted)
{
    if (ttistable(value) || (ttisfunction(value)))
        pending.push_back({*value, trusted});
}

void note_all(Fingerprinter* f, lua_State* L, std::vector<Pending>& pending)
{
    std::unordered_set<const void*> kept;
    for (const auto& known : f->kept)
        kept.insert(known.second);
    while (!pending.empty())
    {
        Pending next = pending.back();
        pending.pop_back();
        const TValue* value = &next.value;
        if (ttistable(value))
        {
            LuaTable* table = hvalue(value);
            // Entities, and lists of them, are the state of the game.
            if (table == f->handles || table == f->lists || f->entity_of(f->context, table))
                continue;
            if (!table->readonly && !next.trusted)
            {
                if (!f->constants.count(table) && kept.insert(table).second)
                    f->kept.push_back({'t', table});
                continue;
            }
            if (!add_constant(f, L, table, LUA_TTABLE))
                continue;
            for (int at = 0; at < table->sizearray; at++)
                note_value(f, L, pending, &table->array[at], next.trusted);
            for (int at = 0; table->node != &luaH_dummynode && at < sizenode(table); at++)
                note_value(f, L, pending, gval(&table->node[at]), next.trusted);
            if (table->metatable)
            {
                TValue meta;
                memset(&meta, 0, sizeof meta);
                meta.value.gc = reinterpret_cast<GCObject*>(table->metatable);
                meta.tt = LUA_TTABLE;
                pending.push_back({meta, next.trusted});
            }
            continue;
        }
        Closure* function = clvalue(value);
        if (!add_constant(f, L, function, LUA_TFUNCTION) || function->isC)
            continue;
        Proto* p = function->l.p;
        note_code(f, p);
        bool trusted = p->source && strcmp(getstr(p->source), "=host") == 0;
        if (function->env)
        {
            TValue env;
            memset(&env, 0, sizeof env);
            env.value.gc = reinterpret_cast<GCObject*>(function->env);
            env.tt = LUA_TTABLE;
            pending.push_back({env, true});
        }
        for (int at = 0; at < function->nupvalues; at++)
        {
            const TValue* held = &function->l.uprefs[at];
            if (!ttisupval(held))
                note_value(f, L, pending, held, trusted);
            else if (trusted)
                note_value(f, L, pending, upvalue(held)->v, trusted);
            else if (kept.insert(upvalue(held)).second)
                f->kept.push_back({'u', upvalue(held)});
        }
    }
}

// The instructions that read a register before it is written again, from a place on.
std::vector<int> readers_of(const Proto* p, int place, int wanted)
{
    std::vector<int> readers, waiting{place};
    std::vector<bool> seen(p->sizecode + 1);
    while (!waiting.empty())
    {
        int at = waiting.back();
        waiting.pop_back();
        if (at >= p->sizecode || seen[at])
            continue;
        seen[at] = true;
        LuauOpcode op = LuauOpcode(LUAU_INSN_OP(p->code[at]));
        Registers reads, writes, jump;
        uses_of(p->code, at, reads, writes, jump);
        if (reads.test(wanted))
            readers.push_back(at);
        if (writes.test(wanted))
            continue;
        if (Luau::isFallthrough(op))
            waiting.push_back(at + Luau::getOpLength(op));
        int target = Luau::isFastCall(op) ? -1 : Luau::getJumpTarget(p->code[at], at);
        if (target >= 0 && !jump.test(wanted))
            waiting.push_back(target);
    }
    return readers;
}

bool is_op(const Proto* p, int at, LuauOpcode op, int a)
{
    return at >= 0 && at < p->sizecode && LUAU_INSN_OP(p->code[at]) == op && int(LUAU_INSN_A(p->code[at])) == a;
}

// Whether the instruction loads a function of a library, such as `table.sort`.
bool loads(const Proto* p, int at, int a, const char* library, const char* name)
{
    if (!is_op(p, at, LOP_GETIMPORT, a))
        return false;
    uint32_t path = p->code[at + 1];
    auto is_named = [&](int constant, const char* wanted) {
        return constant < p->sizek && ttisstring(&p->k[constant]) && strcmp(getstr(tsvalue(&p->k[constant])), wanted) == 0;
    };
    return path >> 30 == 2 && is_named((path >> 20) & 1023, library) && is_named((path >> 10) & 1023, name);
}

// Whether a list that is put into a register here is sorted by `table.sort` before anything else looks at it.
bool is_sorted_first(const Proto* p, int place, int list)
{
    for (int at = place, before = -1; at < p->sizecode;)
    {
        LuauOpcode op = LuauOpcode(LUAU_INSN_OP(p->code[at]));
        Registers reads, writes, jump;
        uses_of(p->code, at, reads, writes, jump);
        if (reads.test(list))
        {
            int put = LUAU_INSN_A(p->code[at]), next = at + 1;
            return op == LOP_MOVE && int(LUAU_INSN_B(p->code[at])) == list && loads(p, before, put - 1, "table", "sort") &&
                   is_op(p, next, LOP_CALL, put - 1) && LUAU_INSN_B(p->code[next]) == 2;
        }
        if (writes.test(list) || !Luau::isFallthrough(op) || Luau::isFastCall(op) || Luau::getJumpTarget(p->code[at], at) >= 0)
            return false;
        before = at;
        at += Luau::getOpLength(op);
    }
    return false;
}

// Whether a list that is put into a register here is gone through once by `for _, element in list`, and never read otherwise.
bool is_iterated_once(const Proto* p, const Code& code, int place, int list)
{
    // A copy is followed as well: `local hand; hand = rb.draw(deck, 5)`.
    for (int copies = 0; copies < 3; copies++)
    {
        std::vector<int> readers = readers_of(p, place, list);
        if (readers.size() != 1)
            return false;
        int at = readers[0];
        if (LUAU_INSN_OP(p->code[at]) != LOP_MOVE || code.live[at + 1].test(list))
            return false;
        int put = LUAU_INSN_A(p->code[at]);
        if (is_op(p, at + 1, LOP_LOADNIL, put + 1) && is_op(p, at + 2, LOP_LOADNIL, put + 2) && is_op(p, at + 3, LOP_FORGPREP, put))
            return true;
        place = at + 1;
        list = put;
    }
    return false;
}

} // namespace

extern "C"
{

// How a script goes on with the two results of the function of the host's own script that it has called, and that has called
// the host: 1 if the second one is never read, and 2 if the first one is gone through once by a loop and not read otherwise, or
// 4 if it is sorted before it is read otherwise. 0 if nothing can be proven.
int fingerprint_use_of_results(void* fingerprinter, lua_State* L)
{
    Fingerprinter* f = static_cast<Fingerprinter*>(fingerprinter);
    CallInfo *top = L->ci, *own = top - 1, *frame = top - 2;
    if (L != L->global->mainthread || top - L->base_ci < 3 || !isLua(own) || !isLua(frame) || (own->flags & LUA_CALLINFO_RETURN))
        return 0;
    Proto* p = frame->p;
    if (ci_func(frame)->l.p != p || p->optimized || p->deoptimized)
        return 0;
    note_code(f, p);
    Code& code = f->codes[p];
    if (!code.analysed)
        analyse(code, p);
    int place = int(frame->savedpc - p->code);
    int at = code.plain ? code.before[place] : -1;
    if (at < 0 || LUAU_INSN_OP(p->code[at]) != LOP_CALL || place >= p->sizecode)
        return 0;
    int called = LUAU_INSN_A(p->code[at]), results = int(LUAU_INSN_C(p->code[at])) - 1;
    if (frame->base + called != own->func || results < 0)
        return 0;
    if (is_op(p, place, LOP_FORGPREP, called))
        return 3;
    int use = results < 2 || !code.live[place].test(called + 1) ? 1 : 0;
    if (results > 0 && is_iterated_once(p, code, place, called))
        return use | 2;
    if (results > 0 && is_sorted_first(p, place, called))
        return use | 4;
    return use;
}

// Whether the engine that runs is the one whose headers these are: it reads a table that it has made through the interface.
int fingerprint_fits(lua_State* L)
{
    int top = lua_gettop(L);
    lua_createtable(L, 2, 1);
    lua_pushnumber(L, 42.5);
    lua_rawseti(L, -2, 1);
    lua_pushboolean(L, 1);
    lua_setfield(L, -2, "k");
    const LuaTable* table = hvalue(L->top - 1);
    bool fits = (const void*)table == lua_topointer(L, -1) && table->sizearray == 2 && ttisnumber(&table->array[0]) && nvalue(&table->array[0]) == 42.5 &&
                table->lsizenode == 0 && table->node[0].key.tt == LUA_TSTRING && strcmp(table->node[0].key.value.gc->ts.data, "k") == 0 &&
                bvalue(gval(&table->node[0])) == 1 && int(L->top - L->base) == top + 1 && L->global->mainthread != nullptr && L->base_ci <= L->ci &&
                L->ci < L->end_ci && !table->readonly;
    lua_setreadonly(L, -1, 1);
    fits = fits && table->readonly;
    lua_settop(L, top);
    return fits;
}

// new(state function, lists, handles, root ...) with the values on the stack of `L`.
void* fingerprint_new(lua_State* L, uint32_t (*entity_of)(const void*, const void*), const void* context)
{
    int count = lua_gettop(L);
    if (count < 3 || !lua_isfunction(L, 1) || lua_iscfunction(L, 1) || !lua_istable(L, 2) || !lua_istable(L, 3))
        return nullptr;
    Fingerprinter* f = new Fingerprinter;
    f->entity_of = entity_of;
    f->context = context;
    f->state = clvalue(L->base);
    f->lists = hvalue(L->base + 1);
    f->handles = hvalue(L->base + 2);
    lua_newtable(L);
    f->anchor = lua_gettop(L);
    lua_ref(L, -1);
    std::vector<Pending> pending;
    for (int at = 0; at < count; at++)
        if (at != 1 && at != 2)
            note_value(f, L, pending, L->base + at, true);
    note_all(f, L, pending);
    return f;
}

void fingerprint_free(void* fingerprinter)
{
    delete static_cast<Fingerprinter*>(fingerprinter);
}

// How many values and references were looked at since this was asked last, for fingerprints and snapshots.
uint64_t fingerprint_looked_at(void* fingerprinter)
{
    Fingerprinter* f = static_cast<Fingerprinter*>(fingerprinter);
    uint64_t looked_at = f->looked_at;
    f->looked_at = 0;
    return looked_at;
}

// 1 and the bytes of the continuation, or 0 and why it is refused.
int fingerprint_take(void* fingerprinter, lua_State* L, const char** bytes, size_t* count)
{
    Fingerprinter* f = static_cast<Fingerprinter*>(fingerprinter);
    begin(f, L);
    try
    {
        Lists lists(f);
        put_continuation(f, L);
        *bytes = f->out.data();
        *count = f->out.size();
        return 1;
    }
    catch (const Refusal& refusal)
    {
        *bytes = refusal.why;
        *count = strlen(refusal.why);
        return 0;
    }
}

// The same for what scripts keep between runs.
int fingerprint_kept(void* fingerprinter, lua_State* L, const char** bytes, size_t* count)
{
    Fingerprinter* f = static_cast<Fingerprinter*>(fingerprinter);
    begin(f, L);
    try
    {
        put_kept(f);
        put_open(f);
        *bytes = f->out.data();
        *count = f->out.size();
        return 1;
    }
    catch (const Refusal& refusal)
    {
        *bytes = refusal.why;
        *count = strlen(refusal.why);
        return 0;
    }
}

// What the last fingerprint has reached that can change, by sort and address, and the function of the host's own script whose
// variables are its state, and its lists by kind. Nothing if some of it is the state of the game.
const std::pair<char, const void*>* fingerprint_reached(void* fingerprinter, size_t* count, const Closure** state, const LuaTable** lists)
{
    Fingerprinter* f = static_cast<Fingerprinter*>(fingerprinter);
    if (f->has_fields)
        return nullptr;
    static const std::pair<char, const void*> none;
    *count = f->open.size();
    *state = f->state;
    *lists = f->lists;
    return f->open.empty() ? &none : f->open.data();
}

// Whether a table of the host's own script never is another one: what it holds is not reached.
bool fingerprint_is_constant(void* fingerprinter, const void* object)
{
    return static_cast<Fingerprinter*>(fingerprinter)->constants.count(object) != 0;
}

// How many functions that instructions share have not been made yet: whether two functions are equal may depend on that.
size_t fingerprint_unmade(void* fingerprinter)
{
    Fingerprinter* f = static_cast<Fingerprinter*>(fingerprinter);
    std::vector<const Closure*> left;
    for (const Closure* function : f->unmade)
        if (function->preload != 0)
            left.push_back(function);
    f->unmade.swap(left);
    return f->unmade.size();
}

} // extern "C"
