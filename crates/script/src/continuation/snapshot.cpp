// Snapshots of a running script, so that it can go on from one place again and again.
//
// A snapshot is taken right behind a fingerprint, inside a function of the host that a script has called. It holds the call
// frames with all registers, and the content of all that the fingerprint has reached and that can change. Taking the script back
// writes that content into the same objects, builds the frames anew and lets the host's function return another value. So
// a script that is taken back has the fingerprint that it had, which is looked at each time.
//
// It lasts until garbage is collected, between runs: it holds addresses.

#include "lua.h"
#include "lcommon.h"
#include "lobject.h"
#include "lstate.h"
#include "ltable.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <utility>
#include <vector>

// Functions of the engine that no header beside this file has.
int luaD_pcall(lua_State* L, void (*func)(lua_State* L, void* ud), void* u, ptrdiff_t oldtop, ptrdiff_t ef);
void luau_execute(lua_State* L);
void luau_poscall(lua_State* L, StkId first);

extern "C"
{
    int fingerprint_take(void* fingerprinter, lua_State* L, const char** bytes, size_t* count);
    const std::pair<char, const void*>* fingerprint_reached(void* fingerprinter, size_t* count, const Closure** state, const LuaTable** lists);
    bool fingerprint_is_constant(void* fingerprinter, const void* object);
}

namespace
{

// The collector's state in which nothing is marked.
const int PAUSED = 0;

struct Frame
{
    size_t base, func, top; // places on the stack
    CallInfo info;
};

struct SavedTable
{
    LuaTable* table;
    LuaTable head;
    size_t content; // where its array and then its nodes lie in `bytes`
};

struct SavedVariable
{
    UpVal* variable;
    TValue value;
};

struct SavedBuffer
{
    Buffer* buffer;
    size_t content;
};

struct Snapshot
{
    size_t bottom = 0; // the place of the first frame's function
    std::vector<TValue> stack;
    std::vector<Frame> frames;
    unsigned short calls = 0;
    std::vector<std::pair<UpVal*, size_t>> open; // variables on the stack and their places, the lowest first
    std::vector<SavedVariable> variables;
    std::vector<SavedTable> tables;
    std::vector<SavedBuffer> buffers;
    std::vector<char> bytes;
    uint64_t print = 0;
    size_t size() const
    {
        return sizeof *this + stack.capacity() * sizeof(TValue) + frames.capacity() * sizeof(Frame) + open.capacity() * sizeof open[0] +
               variables.capacity() * sizeof variables[0] + tables.capacity() * sizeof tables[0] + buffers.capacity() * sizeof buffers[0] + bytes.capacity();
    }
};

uint64_t print_of(const char* bytes, size_t count)
{
    uint64_t print = 0x9E3779B97F4A7C15u ^ count;
    for (; count >= 8; bytes += 8, count -= 8)
    {
        uint64_t word;
        memcpy(&word, bytes, 8);
        print = (print ^ word) * 0xD6E8FEB86659FD93u;
        print ^= print >> 32;
    }
    for (; count > 0; bytes++, count--)
        print = ((print ^ uint8_t(*bytes)) * 0xD6E8FEB86659FD93u) ^ (print >> 29);
    return print;
}

size_t append(std::vector<char>& bytes, const void* from, size_t count)
{
    size_t at = bytes.size();
    bytes.insert(bytes.end(), static_cast<const char*>(from), static_cast<const char*>(from) + count);
    return at;
}

size_t nodes_of(const LuaTable* table)
{
    return table->node == &luaH_dummynode ? 0 : size_t(sizenode(table));
}

void save_table(Snapshot& to, const LuaTable* table)
{
    SavedTable saved;
    saved.table = const_cast<LuaTable*>(table);
    memcpy(&saved.head, table, sizeof saved.head);
    saved.content = append(to.bytes, table->array, size_t(table->sizearray) * sizeof(TValue));
    append(to.bytes, table->node, nodes_of(table) * sizeof(LuaNode));
    to.tables.push_back(saved);
}

// Writes the content of a table back. One that has grown meanwhile gets the store of a new one.
void put_back(lua_State* L, const Snapshot& from, const SavedTable& saved)
{
    LuaTable* table = saved.table;
    const LuaTable& head = saved.head;
    size_t nodes = nodes_of(&head);
    if (table->sizearray != head.sizearray || nodes_of(table) != nodes)
    {
        lua_createtable(L, head.sizearray, int(nodes));
        LuaTable* fresh = hvalue(L->top - 1);
        std::swap(table->array, fresh->array);
        std::swap(table->node, fresh->node);
        std::swap(table->sizearray, fresh->sizearray);
        std::swap(table->lsizenode, fresh->lsizenode);
        std::swap(table->nodemask8, fresh->nodemask8);
        fresh->lastfree = 0;
        lua_settop(L, -2);
    }
    const char* content = from.bytes.data() + saved.content;
    size_t array = size_t(head.sizearray) * sizeof(TValue);
    if (array)
        memcpy(table->array, content, array);
    if (nodes)
        memcpy(table->node, content + array, nodes * sizeof(LuaNode));
    table->tmcache = head.tmcache;
    table->readonly = head.readonly;
    table->safeenv = head.safeenv;
    table->lastfree = head.lastfree;
    table->metatable = head.metatable;
}

// What the host's function gives: nothing but numbers, a truth value, or a locked list of numbers.
struct Given
{
    int sort; // 0 a number, 1 a truth value, 2 a list
    const double* numbers;
    size_t count;
};

struct Return
{
    const Snapshot* from;
    void* fingerprinter;
    void (*prepare)(lua_State* L);
    Given given;
    int refused = 0;
};

void go_on(lua_State* L, void* data)
{
    Return& way = *static_cast<Return*>(data);
    const Snapshot& from = *way.from;
    way.refused = 1;
    way.prepare(L);
    for (const SavedTable& saved : from.tables)
        put_back(L, from, saved);
    for (const SavedBuffer& saved : from.buffers)
        memcpy(saved.buffer->data, from.bytes.data() + saved.content, saved.buffer->len);
    for (const SavedVariable& saved : from.variables)
    {
        saved.variable->v = &saved.variable->u.value;
        saved.variable->u.value = saved.value;
    }
    size_t highest = from.bottom + from.stack.size();
    for (const Frame& frame : from.frames)
        highest = frame.top > highest ? frame.top : highest;
    size_t now = size_t(L->top - L->stack);
    // The stack keeps more room than it tells beyond the highest place that is asked for.
    if (now > from.bottom || L->base_ci + from.frames.size() >= L->end_ci || highest > size_t(L->stack_last - L->stack))
        return;
    for (size_t at = now; at < from.bottom; at++)
        setnilvalue(L->stack + at);
    memcpy(L->stack + from.bottom, from.stack.data(), from.stack.size() * sizeof(TValue));
    CallInfo* info = L->ci;
    for (const Frame& frame : from.frames)
    {
        *++info = frame.info;
        info->base = L->stack + frame.base;
        info->func = L->stack + frame.func;
        info->top = L->stack + frame.top;
    }
    L->ci = info;
    L->base = info->base;
    L->top = info->base;
    L->nCcalls = from.calls;
    for (const std::pair<UpVal*, size_t>& open : from.open)
    {
        UpVal* variable = open.first;
        UpVal* head = &L->global->uvhead;
        variable->markedopen = 0;
        variable->v = L->stack + open.second;
        variable->u.open.threadnext = L->openupval;
        L->openupval = variable;
        variable->u.open.prev = head;
        variable->u.open.next = head->u.open.next;
        variable->u.open.next->u.open.prev = variable;
        head->u.open.next = variable;
    }
    const char* bytes = nullptr;
    size_t count = 0;
    if (!fingerprint_take(way.fingerprinter, L, &bytes, &count) || print_of(bytes, count) != from.print)
    {
        way.refused = 2;
        lua_pushnil(L);
        lua_error(L);
    }
    way.refused = 0;
    const Given& given = way.given;
    if (given.sort == 0)
        lua_pushnumber(L, given.numbers[0]);
    else if (given.sort == 1)
        lua_pushboolean(L, given.numbers[0] != 0);
    else
    {
        lua_createtable(L, int(given.count), 0);
        for (size_t at = 0; at < given.count; at++)
        {
            lua_pushnumber(L, given.numbers[at]);
            lua_rawseti(L, -2, int(at) + 1);
        }
        lua_setreadonly(L, -1, 1);
    }
    luau_poscall(L, L->top - 1);
    L->isactive = true;
    luau_execute(L);
}

} // namespace

extern "C"
{

// Whether a machine can be taken back: nothing is marked by the collector.
int snapshot_fits(lua_State* L)
{
    return L->global->gcstate == PAUSED && L == L->global->mainthread;
}

// The snapshot of the place of which the last fingerprint was taken, of `count` bytes with this content; null where that
// cannot be taken back.
void* snapshot_take(void* fingerprinter, lua_State* L, size_t* size)
{
    const Closure* state = nullptr;
    const LuaTable* lists = nullptr;
    size_t count = 0;
    const char* bytes = nullptr;
    if (!snapshot_fits(L) || !fingerprint_take(fingerprinter, L, &bytes, &count))
        return nullptr;
    uint64_t print = print_of(bytes, count);
    const std::pair<char, const void*>* reached = fingerprint_reached(fingerprinter, &count, &state, &lists);
    if (!reached)
        return nullptr;
    for (CallInfo* info = L->base_ci + 2; info <= L->ci; info++)
        if (info->flags & LUA_CALLINFO_RETURN)
            return nullptr; // the interpreter stands inside itself
    Snapshot* to = new Snapshot;
    to->print = print;
    StkId bottom = (L->base_ci + 1)->func;
    to->bottom = size_t(bottom - L->stack);
    to->stack.assign(bottom, L->ci->base);
    to->calls = L->nCcalls;
    for (CallInfo* info = L->base_ci + 1; info <= L->ci; info++)
        to->frames.push_back({size_t(info->base - L->stack), size_t(info->func - L->stack), size_t(info->top - L->stack), *info});
    for (UpVal* variable = L->openupval; variable; variable = variable->u.open.threadnext)
        to->open.insert(to->open.begin(), {variable, size_t(variable->v - L->stack)});
    bool fits = to->open.empty() || to->open.front().second >= to->bottom;
    for (size_t at = 0; at < count; at++)
    {
        const void* object = reached[at].second;
        if (reached[at].first == 't')
            save_table(*to, static_cast<const LuaTable*>(object));
        else if (reached[at].first == 'b')
        {
            Buffer* buffer = const_cast<Buffer*>(static_cast<const Buffer*>(object));
            to->buffers.push_back({buffer, append(to->bytes, buffer->data, buffer->len)});
        }
        else if (reached[at].first == 'u')
        {
            UpVal* variable = const_cast<UpVal*>(static_cast<const UpVal*>(object));
            if (!upisopen(variable))
                to->variables.push_back({variable, *variable->v});
        }
    }
    if (lists)
        save_table(*to, lists);
    for (int at = 0; state && at < state->nupvalues; at++)
    {
        const TValue* held = &state->l.uprefs[at];
        const TValue* value = ttisupval(held) ? upvalue(held)->v : held;
        if (ttisupval(held))
        {
            fits = fits && !upisopen(upvalue(held));
            to->variables.push_back({upvalue(held), *value});
        }
        // What is noted in a list that is always the same has to be none.
        if (ttistable(value) && fingerprint_is_constant(fingerprinter, hvalue(value)) && hvalue(value)->sizearray > 0 && !ttisnil(&hvalue(value)->array[0]))
            fits = false;
    }
    *size = to->size();
    if (fits)
        return to;
    delete to;
    return nullptr;
}

void snapshot_free(void* snapshot)
{
    delete static_cast<Snapshot*>(snapshot);
}

// Takes the script back and lets it go on, with what the host's function gives there. 0: it came to its end; 1: it ended by
// an error; 2: it could not be taken back.
int snapshot_return(void* snapshot, void* fingerprinter, lua_State* L, void (*prepare)(lua_State* L), int sort, const double* numbers, size_t count)
{
    if (!snapshot_fits(L) || L->ci != L->base_ci || L->openupval || L->status != 0)
        return 2;
    Return way{static_cast<Snapshot*>(snapshot), fingerprinter, prepare, {sort, numbers, count}};
    size_t top = size_t(L->top - L->stack);
    unsigned short calls = L->nCcalls;
    bool was_active = L->isactive;
    int status = luaD_pcall(L, go_on, &way, ptrdiff_t(top * sizeof(TValue)), 0);
    L->top = L->stack + top;
    L->nCcalls = calls;
    L->isactive = was_active;
    return way.refused ? 2 : status ? 1 : 0;
}

} // extern "C"
