"""The rules of the offline answers, in English and Chinese; `offline` says which one answers what.

What a request or query holds is taken apart in `conversation`. What a prompt asks for is told by `asked`, and
the call that saves what it says to remember is made by `saving`. What is noted after a turn is put together
in `noting`: of the sentences that the user says in person (`own_words`), those that hold from now on
(`stated`), told by the patterns of `wording`.
"""
