// Parses a script with the engine's own parser and writes its syntax tree as bytes, for `read.rs`.
//
// The tree is written from the root: a tag, the place in the text, then the parts in the order in which `read.rs` reads them.
// Numbers are 32 bits in the machine's byte order, texts are a length and bytes. A local variable is written out where it is
// first met and by its number from then on. What no lint asks about (generics, attributes, most types) is left out.

#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <unordered_map>

#include "Luau/Parser.h"

using namespace Luau;

namespace
{

// The same order as in `read.rs`.
enum Tag : uint32_t
{
    NIL,
    BOOLEAN,
    NUMBER,
    INTEGER,
    STRING,
    LOCAL,
    GLOBAL,
    VARARGS,
    CALL,
    INDEX_NAME,
    INDEX_EXPR,
    FUNCTION,
    TABLE,
    UNARY,
    BINARY,
    GROUP,
    TYPE_ASSERTION,
    IF_ELSE,
    INTERPOLATED,
    INSTANTIATE,

    BLOCK,
    IF,
    WHILE,
    REPEAT,
    BREAK,
    CONTINUE,
    RETURN,
    EXPRESSION,
    LOCALS,
    NUMERIC_FOR,
    GENERIC_FOR,
    ASSIGN,
    COMPOUND_ASSIGN,
    FUNCTION_DECLARATION,
    LOCAL_FUNCTION,

    // A type, or something that scripts of rulesets do not hold.
    OTHER,
};

enum TypeTag : uint32_t
{
    NO_TYPE,
    NAMED_TYPE,
    TABLE_TYPE,
    OTHER_TYPE,
};

class Writer
{
public:
    std::string bytes;

    void number(uint32_t value)
    {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }

    void text(const char* begin, size_t length)
    {
        number(uint32_t(length));
        bytes.append(begin, length);
    }

    void location(const Location& at)
    {
        number(at.begin.line);
        number(at.begin.column);
        number(at.end.line);
        number(at.end.column);
    }

    void block(AstStatBlock* node)
    {
        head(BLOCK, node);
        number(uint32_t(node->body.size));
        for (AstStat* inner : node->body)
            statement(inner);
    }

private:
    std::unordered_map<AstLocal*, uint32_t> locals;

    void head(Tag tag, AstNode* node)
    {
        number(tag);
        location(node->location);
    }

    void name(AstName name)
    {
        const char* begin = name.value ? name.value : "";
        text(begin, strlen(begin));
    }

    void wide(const void* value)
    {
        bytes.append(static_cast<const char*>(value), 8);
    }

    void type(AstType* node)
    {
        if (!node)
            number(NO_TYPE);
        else if (auto* named = node->as<AstTypeReference>(); named && !named->prefix)
        {
            number(NAMED_TYPE);
            name(named->name);
        }
        else
            number(node->is<AstTypeTable>() ? TABLE_TYPE : OTHER_TYPE);
    }

    // The first of the types that a function says it returns.
    void returned(AstTypePack* pack)
    {
        auto* written = pack ? pack->as<AstTypePackExplicit>() : nullptr;
        type(written && written->typeList.types.size > 0 ? written->typeList.types.data[0] : nullptr);
    }

    void local(AstLocal* node)
    {
        auto [found, fresh] = locals.try_emplace(node, uint32_t(locals.size()));
        number(found->second);
        if (!fresh)
            return;
        name(node->name);
        location(node->location);
        number(uint32_t(node->functionDepth));
        type(node->annotation);
    }

    void local_list(const AstArray<AstLocal*>& list)
    {
        number(uint32_t(list.size));
        for (AstLocal* one : list)
            local(one);
    }

    void list(const AstArray<AstExpr*>& list)
    {
        number(uint32_t(list.size));
        for (AstExpr* one : list)
            expression(one);
    }

    void expression(AstExpr* node)
    {
        if (auto* constant = node->as<AstExprConstantBool>())
        {
            head(BOOLEAN, node);
            number(constant->value);
        }
        else if (auto* constant = node->as<AstExprConstantNumber>())
        {
            head(NUMBER, node);
            wide(&constant->value);
        }
        else if (auto* constant = node->as<AstExprConstantInteger>())
        {
            head(INTEGER, node);
            wide(&constant->value);
        }
        else if (auto* constant = node->as<AstExprConstantString>())
        {
            head(STRING, node);
            text(constant->value.data, constant->value.size);
        }
        else if (auto* use = node->as<AstExprLocal>())
        {
            head(LOCAL, node);
            local(use->local);
            number(use->upvalue);
        }
        else if (auto* global = node->as<AstExprGlobal>())
        {
            head(GLOBAL, node);
            name(global->name);
        }
        else if (auto* call = node->as<AstExprCall>())
        {
            head(CALL, node);
            expression(call->func);
            list(call->args);
            number(call->self);
        }
        else if (auto* index = node->as<AstExprIndexName>())
        {
            head(INDEX_NAME, node);
            expression(index->expr);
            name(index->index);
            location(index->indexLocation);
        }
        else if (auto* index = node->as<AstExprIndexExpr>())
        {
            head(INDEX_EXPR, node);
            expression(index->expr);
            expression(index->index);
        }
        else if (auto* function = node->as<AstExprFunction>())
        {
            head(FUNCTION, node);
            local_list(function->args);
            number(function->vararg);
            returned(function->returnAnnotation);
            block(function->body);
        }
        else if (auto* table = node->as<AstExprTable>())
        {
            head(TABLE, node);
            number(uint32_t(table->items.size));
            for (const AstExprTable::Item& item : table->items)
            {
                number(uint32_t(item.kind));
                if (item.kind != AstExprTable::Item::Kind::List)
                    expression(item.key);
                expression(item.value);
            }
        }
        else if (auto* unary = node->as<AstExprUnary>())
        {
            head(UNARY, node);
            number(uint32_t(unary->op));
            expression(unary->expr);
        }
        else if (auto* binary = node->as<AstExprBinary>())
        {
            head(BINARY, node);
            number(uint32_t(binary->op));
            expression(binary->left);
            expression(binary->right);
        }
        else if (auto* group = node->as<AstExprGroup>())
        {
            head(GROUP, node);
            expression(group->expr);
        }
        else if (auto* assertion = node->as<AstExprTypeAssertion>())
        {
            head(TYPE_ASSERTION, node);
            expression(assertion->expr);
        }
        else if (auto* choice = node->as<AstExprIfElse>())
        {
            head(IF_ELSE, node);
            expression(choice->condition);
            expression(choice->trueExpr);
            expression(choice->falseExpr);
        }
        else if (auto* interpolated = node->as<AstExprInterpString>())
        {
            head(INTERPOLATED, node);
            list(interpolated->expressions);
        }
        else if (auto* instantiate = node->as<AstExprInstantiate>())
        {
            head(INSTANTIATE, node);
            expression(instantiate->expr);
        }
        else if (node->is<AstExprVarargs>())
            head(VARARGS, node);
        else if (node->is<AstExprConstantNil>())
            head(NIL, node);
        else
            head(OTHER, node);
    }

    void statement(AstStat* node)
    {
        if (auto* inner = node->as<AstStatBlock>())
            block(inner);
        else if (auto* branch = node->as<AstStatIf>())
        {
            head(IF, node);
            expression(branch->condition);
            block(branch->thenbody);
            number(branch->elsebody != nullptr);
            if (branch->elsebody)
                statement(branch->elsebody);
        }
        else if (auto* loop = node->as<AstStatWhile>())
        {
            head(WHILE, node);
            expression(loop->condition);
            block(loop->body);
        }
        else if (auto* loop = node->as<AstStatRepeat>())
        {
            head(REPEAT, node);
            block(loop->body);
            expression(loop->condition);
        }
        else if (auto* back = node->as<AstStatReturn>())
        {
            head(RETURN, node);
            list(back->list);
        }
        else if (auto* called = node->as<AstStatExpr>())
        {
            head(EXPRESSION, node);
            expression(called->expr);
        }
        else if (auto* declared = node->as<AstStatLocal>())
        {
            head(LOCALS, node);
            local_list(declared->vars);
            list(declared->values);
        }
        else if (auto* loop = node->as<AstStatFor>())
        {
            head(NUMERIC_FOR, node);
            local(loop->var);
            expression(loop->from);
            expression(loop->to);
            number(loop->step != nullptr);
            if (loop->step)
                expression(loop->step);
            block(loop->body);
        }
        else if (auto* loop = node->as<AstStatForIn>())
        {
            head(GENERIC_FOR, node);
            local_list(loop->vars);
            list(loop->values);
            block(loop->body);
        }
        else if (auto* assign = node->as<AstStatAssign>())
        {
            head(ASSIGN, node);
            list(assign->vars);
            list(assign->values);
        }
        else if (auto* assign = node->as<AstStatCompoundAssign>())
        {
            head(COMPOUND_ASSIGN, node);
            number(uint32_t(assign->op));
            expression(assign->var);
            expression(assign->value);
        }
        else if (auto* function = node->as<AstStatFunction>())
        {
            head(FUNCTION_DECLARATION, node);
            expression(function->name);
            expression(function->func);
        }
        else if (auto* function = node->as<AstStatLocalFunction>())
        {
            head(LOCAL_FUNCTION, node);
            local(function->name);
            expression(function->func);
        }
        else if (node->is<AstStatBreak>())
            head(BREAK, node);
        else if (node->is<AstStatContinue>())
            head(CONTINUE, node);
        else
            head(OTHER, node);
    }
};

} // namespace

// Hands the tree to `take` and returns true, or hands it the first error: its place and its message.
extern "C" bool riskbreaker_syntax_tree(const char* source, size_t length, void* context, void (*take)(void*, const char*, size_t))
{
    Writer writer;
    bool reads = false;
    try
    {
        Allocator allocator;
        AstNameTable names(allocator);
        ParseResult result = Parser::parse(source, length, names, allocator);
        reads = result.errors.empty();
        if (reads)
            writer.block(result.root);
        else
        {
            const ParseError& error = result.errors.front();
            writer.location(error.getLocation());
            writer.text(error.getMessage().data(), error.getMessage().size());
        }
    }
    catch (const std::exception& error)
    {
        reads = false;
        writer = Writer();
        writer.location(Location());
        writer.text(error.what(), strlen(error.what()));
    }
    take(context, writer.bytes.data(), writer.bytes.size());
    return reads;
}
